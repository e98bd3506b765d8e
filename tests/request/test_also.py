"""What a component needs and provides may depend on its options."""

import pytest

from attnx.host.catalog import Catalog
from attnx.plugin import UsageError
from attnx.request.resolve import resolve
from attnx.request.spec import Options, RunSpec

PLUGIN = """
@hookimpl
def attnx_tasks():
    return [Card('asking', 'asking_plugin.task:Asking', options='asking_plugin.options:AskingOptions',
                 recommends=('bilstm-add',))]
"""
TASK = """
class Asking:
    'Texts.'
    provides = ('words', 'rationale')
"""
OPTIONS = """
from attnx.plugin import Options

class AskingOptions(Options):
    asks: bool = False

    @property
    def also_needs(self):
        return ("reads-query",) if self.asks else ()
"""


def test_a_plain_component_needs_and_provides_nothing_more():
    assert Options().also_needs == Options().also_provides == ()


def test_an_option_of_a_task_may_ask_something_of_the_model(install):
    install("asking", PLUGIN, options=OPTIONS, task=TASK)
    catalog = Catalog.installed()
    resolve(RunSpec.model_validate({"task": "asking", "model": "fcam-words"}), catalog)
    with pytest.raises(UsageError, match=r"Task 'asking:asks=true' needs a model that reads the query"):
        resolve(RunSpec.model_validate({"task": "asking:asks=true", "model": "fcam-words"}), catalog)
