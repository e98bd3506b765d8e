"""Words that captions use for the 80 object types with boxes in COCO.

A name of one word includes its plural; names of several words and further words are listed.
"""

from typing import Final

FURTHER: Final = {
    "person": "people man men woman women boy boys girl girls guy guys child children kid kids lady player",
    "bicycle": "bike bikes",
    "motorcycle": "motorbike motorbikes",
    "airplane": "plane planes jet jets aeroplane",
    "traffic light": "light lights",
    "fire hydrant": "hydrant hydrants",
    "stop sign": "sign signs",
    "parking meter": "meter meters",
    "sports ball": "ball balls",
    "baseball bat": "bat bats",
    "baseball glove": "glove gloves mitt",
    "tennis racket": "racket rackets racquet racquets",
    "wine glass": "glass glasses",
    "hot dog": "hotdog hotdogs",
    "potted plant": "plant plants",
    "dining table": "table tables",
    "cell phone": "phone phones cellphone",
    "teddy bear": "teddy",
    "hair drier": "dryer drier",
    "bench": "benches",
    "bus": "buses",
    "sheep": "lamb lambs",
    "cow": "cattle bull",
    "couch": "couches sofa sofas",
    "sandwich": "sandwiches",
    "donut": "doughnut doughnuts",
    "knife": "knives",
    "tv": "television televisions",
    "toothbrush": "toothbrushes",
    "refrigerator": "fridge",
    "skis": "ski",
    "scissors": "",
    "mouse": "mice",
}


def words_of(category: str) -> set[str]:
    """The words that name a category in captions."""
    own = {category, f"{category}s"} if " " not in category else set()
    return own | set(FURTHER.get(category, "").split())
