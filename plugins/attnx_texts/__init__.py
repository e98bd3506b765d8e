"""Texts: published datasets of labelled texts, with human rationales or without, and the user's own files."""

from attnx.plugin import Adapter, Card, hookimpl

JAIN = 'Jain and Wallace, "Attention is not Explanation", NAACL 2019'
ZHANG = (
    'Zhang, Zhao and LeCun, "Character-level Convolutional Networks for Text Classification", NeurIPS 2015'
)
ERASER = 'DeYoung et al., "ERASER: A Benchmark to Evaluate Rationalized NLP Models", ACL 2020'
MATHEW = 'Mathew et al., "HateXplain: A Benchmark Dataset for Explainable Hate Speech Detection", AAAI 2021'
BOWMAN = 'Bowman et al., "A large annotated corpus for learning natural language inference", EMNLP 2015'
CAMBURU = (
    'Camburu et al., "e-SNLI: Natural Language Inference with Natural Language Explanations", NeurIPS 2018'
)
GARDNER = 'Gardner et al., "Evaluating Models\' Local Decision Boundaries via Contrast Sets", EMNLP 2020'
MIMIC = (
    f'Johnson et al., "MIMIC-III, a freely accessible critical care database", 2016; prepared as in {JAIN}'
)


def _task(name: str, target: str, options: str, citation: str = "") -> Card:
    return Card(
        name,
        f"attnx_texts.{target}",
        options=f"attnx_texts.options:{options}",
        recommends=("bilstm-add",),
        citation=citation,
    )


@hookimpl
def attnx_adapters() -> list[Adapter]:
    """Texts in memory: a DataFrame, a `datasets` object, or texts and labels."""
    return [
        Adapter(
            "task",
            accepts=(
                "pandas.core.frame:DataFrame",
                "pandas:DataFrame",
                "datasets.arrow_dataset:Dataset",
                "datasets.dataset_dict:DatasetDict",
                "builtins:dict",
                "builtins:tuple",
            ),
            target="attnx_texts.in_memory:task_of",
            options="attnx_texts.in_memory_options:InMemoryOptions",
        )
    ]


@hookimpl
def attnx_tasks() -> list[Card]:
    """Labelled texts: published datasets, and the user's own files."""
    return [
        _task("imdb", "movie_reviews:Imdb", "ImdbOptions",
              'Maas et al., "Learning Word Vectors for Sentiment Analysis", ACL 2011'),
        _task("rotten-tomatoes", "movie_reviews:RottenTomatoes", "SnippetOptions",
              'Pang and Lee, "Seeing Stars", ACL 2005'),
        _task("20news", "newsgroups:Newsgroups", "NewsgroupsOptions", 'Lang, "NewsWeeder", ICML 1995'),
        _task("sst", "sst:Sst", "SstOptions", 'Socher et al., "Recursive Deep Models", EMNLP 2013'),
        _task("agnews", "zhang:AgNews", "AgNewsOptions", ZHANG),
        _task("yelp", "zhang:Yelp", "StarsOptions", ZHANG),
        _task("amazon", "zhang:Amazon", "StarsOptions", ZHANG),
        _task("yahoo", "zhang:Yahoo", "YahooOptions", ZHANG),
        _task("adr-tweets", "clinical:AdrTweets", "TweetOptions",
              f'Nikfarjam et al., "Pharmacovigilance from social media", 2015; as in {JAIN}'),
        _task("diabetes", "clinical:Diabetes", "NotesOptions", MIMIC),
        _task("anemia", "clinical:Anemia", "NotesOptions", MIMIC),
        _task("eraser-movies", "eraser_movies:EraserMovies", "RationaleOptions",
              f'Zaidan and Eisner, "Modeling Annotators", EMNLP 2008; as in {ERASER}'),
        _task("hatexplain", "hatexplain:HateXplain", "HateXplainOptions", MATHEW),
        _task("esnli", "esnli:Esnli", "EsnliOptions", CAMBURU),
        _task("snli", "snli:Snli", "SnliOptions", BOWMAN),
        _task("csv", "own_files:CsvFiles", "CsvOptions"),
        _task("jsonl", "own_files:JsonlFiles", "JsonlOptions"),
        _task("jsonl-rationales", "own_files:MarkedJsonlFiles", "MarkedJsonlOptions"),
        Card("minimal-pairs", "attnx_texts.minimal_pairs:MinimalPairs",
             options="attnx_texts.minimal_pairs_options:MinimalPairsOptions", recommends=("bilstm-add",),
             citation=GARDNER),
        _task("hf-dataset", "hf_dataset:HfDataset", "HfDatasetOptions"),
    ]  # fmt: skip
