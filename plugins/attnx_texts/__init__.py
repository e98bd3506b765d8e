"""Texts: published datasets of labelled texts, with human rationales or without, and the user's own files."""

from attnx import Card, hookimpl

JAIN = 'Jain and Wallace, "Attention is not Explanation", NAACL 2019'
ZHANG = (
    'Zhang, Zhao and LeCun, "Character-level Convolutional Networks for Text Classification", NeurIPS 2015'
)
ERASER = 'DeYoung et al., "ERASER: A Benchmark to Evaluate Rationalized NLP Models", ACL 2020'
MIMIC = (
    f'Johnson et al., "MIMIC-III, a freely accessible critical care database", 2016; prepared as in {JAIN}'
)

WORDS, MARKED = ("words",), ("words", "rationale")
OWN = ("csv", "jsonl", "jsonl-rationales", "hf-dataset")  # tasks of the user's own files
DATASETS = {"20news": "20-newsgroups"}  # where task and dataset differ in name


def _task(
    name: str,
    target: str,
    summary: str,
    options: str,
    citation: str = "",
    provides: tuple[str, ...] = WORDS,
) -> Card:
    return Card(
        name,
        f"attnx_texts.{target}",
        summary,
        options=f"attnx_texts.options:{options}",
        provides=provides,
        recommends=("bilstm-add",),
        dataset="" if name in OWN else DATASETS.get(name, name),
        citation=citation,
    )


@hookimpl
def attnx_tasks() -> list[Card]:
    """Labelled texts: published datasets, and the user's own files."""
    return [
        _task("imdb", "movie_reviews:Imdb", "Movie reviews, positive or negative.", "ImdbOptions",
              'Maas et al., "Learning Word Vectors for Sentiment Analysis", ACL 2011'),
        _task("rotten-tomatoes", "movie_reviews:RottenTomatoes",
              "One-sentence movie reviews, positive or negative.", "SnippetOptions",
              'Pang and Lee, "Seeing Stars", ACL 2005'),
        _task("20news", "newsgroups:Newsgroups",
              "Messages of newsgroups, baseball against hockey unless others are chosen.",
              "NewsgroupsOptions", 'Lang, "NewsWeeder", ICML 1995'),
        _task("sst", "sst:Sst",
              "Movie review sentences, positive or negative; local train.txt, dev.txt, test.txt of trees.",
              "SstOptions", 'Socher et al., "Recursive Deep Models", EMNLP 2013'),
        _task("agnews", "zhang:AgNews",
              "News by topic, World against Business unless others are chosen; local train.csv and test.csv.",
              "AgNewsOptions", ZHANG),
        _task("yelp", "zhang:Yelp",
              "Yelp reviews by stars; local train.csv and test.csv, no header: class from 1, text.",
              "StarsOptions", ZHANG),
        _task("amazon", "zhang:Amazon",
              "Amazon reviews by stars; local train.csv and test.csv, no header: class from 1, title, text.",
              "StarsOptions", ZHANG),
        _task("yahoo", "zhang:Yahoo",
              "Yahoo questions by topic; local train.csv and test.csv, no header: class, question, answer.",
              "YahooOptions", ZHANG),
        _task("adr-tweets", "clinical:AdrTweets",
              "Tweets that report an adverse drug reaction or not; local train and test .jsonl or .csv only.",
              "TweetOptions", f'Nikfarjam et al., "Pharmacovigilance from social media", 2015; as in {JAIN}'),
        _task("diabetes", "clinical:Diabetes",
              "Hospital notes, of diabetes or not; local train and test .jsonl or .csv only.",
              "NotesOptions", MIMIC),
        _task("anemia", "clinical:Anemia",
              "Hospital notes of acute or chronic anemia; local train and test .jsonl or .csv only.",
              "NotesOptions", MIMIC),
        _task("eraser-movies", "eraser_movies:EraserMovies",
              "Movie reviews with the phrases that show whether they are positive or negative.",
              "RationaleOptions", f'Zaidan and Eisner, "Modeling Annotators", EMNLP 2008; as in {ERASER}',
              MARKED),
        _task("hatexplain", "hatexplain:HateXplain",
              "Posts that are hateful, offensive or normal, with the words that make them so.",
              "HateXplainOptions",
              'Mathew et al., "HateXplain: A Benchmark Dataset for Explainable Hate Speech Detection", '
              "AAAI 2021", MARKED),
        _task("esnli", "esnli:Esnli",
              "Pairs of sentences that agree, contradict or neither, with the words that show it.",
              "EsnliOptions",
              'Camburu et al., "e-SNLI: Natural Language Inference with Natural Language Explanations", '
              "NeurIPS 2018", MARKED),
        _task("csv", "own_files:CsvFiles",
              "Your own texts: one CSV or TSV file, or one for every split, with a header line.",
              "CsvOptions"),
        _task("jsonl", "own_files:JsonlFiles",
              "Your own texts: one JSON-lines file, or one for every split, compressed (.gz) or not.",
              "JsonlOptions"),
        _task("jsonl-rationales", "own_files:MarkedJsonlFiles",
              "Your own texts with the words that people marked: JSON-lines files, as for `jsonl`.",
              "MarkedJsonlOptions", provides=MARKED),
        _task("hf-dataset", "hf_dataset:HfDataset",
              "Texts of a Hugging Face dataset, by its name on the hub or from a local folder.",
              "HfDatasetOptions"),
    ]  # fmt: skip
