"""Datasets about health that may not be redistributed: prepared by whoever has access to them."""

from __future__ import annotations

from .dataset_task import DatasetTask
from .label_names import ADVERSE_REACTION, ANEMIA, DIABETES


class AdrTweets(DatasetTask):
    """Tweets that report an adverse drug reaction or not; local train and test .jsonl or .csv only.

    Columns or keys text and label (0 none, 1 adverse reaction). Without a dev file, dev is a tenth of
    train.
    """

    dataset = "adr-tweets"
    known_labels = ADVERSE_REACTION


class Diabetes(DatasetTask):
    """Hospital notes, of diabetes or not; local train and test .jsonl or .csv only.

    From MIMIC-III. Columns or keys text and label (0 no diabetes, 1 diabetes). Without a dev file, dev
    is a tenth of train.
    """

    dataset = "diabetes"
    known_labels = DIABETES


class Anemia(DatasetTask):
    """Hospital notes of acute or chronic anemia; local train and test .jsonl or .csv only.

    From MIMIC-III. Columns or keys text and label (0 acute, 1 chronic). Without a dev file, dev is a
    tenth of train.
    """

    dataset = "anemia"
    known_labels = ANEMIA
