"""Images: captioning with attention over patches, and classification of your own images."""

from attnx.plugin import Card, hookimpl

PANDEY = 'Pandey, Vashisht and Ramaswamy, "On the Interpretability of Attention Networks", ACML 2022'
XU = 'Xu et al., "Show, Attend and Tell", ICML 2015'


@hookimpl
def attnx_tasks() -> list[Card]:
    """Captioned images with one example per word, and your own images."""
    return [
        Card(
            "shapes-captions",
            "attnx_pictures.shapes_captions:ShapesCaptions",
            options="attnx_pictures.options:ShapesOptions",
            recommends=("show-attend-tell",),
            citation=PANDEY,
        ),
        Card(
            "coco-captions",
            "attnx_pictures.coco_captions:CocoCaptions",
            options="attnx_pictures.options:CocoOptions",
            recommends=("show-attend-tell",),
            citation=PANDEY,
        ),
        Card(
            "image-folder",
            "attnx_pictures.image_folder:ImageFolder",
            options="attnx_pictures.options:ImageFolderOptions",
            recommends=("fcam",),
        ),
    ]


@hookimpl
def attnx_drawings() -> list[Card]:
    """Attention drawn over images."""
    return [Card("overlay", "attnx_pictures.overlay_drawing:OverlayDrawing", citation=PANDEY)]


@hookimpl
def attnx_models() -> list[Card]:
    """The captioning model."""
    return [
        Card(
            "show-attend-tell",
            "attnx_pictures.show_attend_tell:ShowAttendTell",
            options="attnx_pictures.options:ShowAttendTellOptions",
            citation=XU,
        ),
    ]
