"""Section 27.2: saved activations. Expected figures typed from the chapter and from the papers."""

from fractions import Fraction

import pytest

from course_lib.activations import (
    SavedActivations,
    TransformerActivations,
    attention_scores_row,
    communication_row,
    embeddings_row,
    fragmentation_row,
    logits_row,
    workspace_row,
)
from course_lib.errors import CourseError
from course_lib.ledger import ACTIVATIONS, ATTENTION_SCORES, STEP_OMITS, model_state
from course_lib.models import MODELS, ZERO_PAPER_ARRAYS, Model

CHAPTER = {
    "sequences": 2,
    "positions": 128,
    "width": 64,
    "layers": 4,
    "arrays_per_layer": 10,
    "bytes_per_value": 2,
}
GPT3 = {"sequences": 1, "positions": 2048, "width": 12288, "heads": 96, "layers": 96}


def test_forty_arrays_of_the_chapter():
    acts = SavedActivations(**CHAPTER)
    assert (acts.array_bytes, acts.layer_bytes, acts.total_bytes) == (32_768, 327_680, 1_310_720)


def test_exercise_1_doubles_the_activations_only():
    acts = SavedActivations(**{**CHAPTER, "sequences": 4})
    assert acts.total_bytes == 2_621_440
    assert (model_state(1_000_000) + acts.ledger()).total_bytes == 18_621_440


@pytest.mark.parametrize(
    ("settings", "units"),
    [
        ({}, 114),
        ({"tensor_parallel": 8}, 23),
        ({"tensor_parallel": 8, "sequence_parallel": True}, Fraction("14.25")),
        ({"tensor_parallel": 8, "recompute": "selective"}, 13),
        ({"tensor_parallel": 8, "sequence_parallel": True, "recompute": "selective"}, Fraction("4.25")),
        ({"tensor_parallel": 8, "sequence_parallel": True, "recompute": "full"}, 2),
    ],
)
def test_gpt3_in_units_of_sbh(settings, units):
    """Korthikanti et al. 2022, table 2 with the sizes of GPT-3."""
    assert TransformerActivations(**GPT3, **settings).units_per_layer == units
    assert MODELS["gpt3-175b"].transformer(**settings).units_per_layer == units


@pytest.mark.parametrize(("key", "score_units"), [("mt-nlg-530b", 64), ("1t", 64), ("gpt2-1.5b", 80)])
def test_score_term_of_other_models(key, score_units):
    """5as/h by hand: 5·128·2048/20480, 5·160·2048/25600, 5·25·1024/1600."""
    model = MODELS[key].transformer()
    assert (model.score_units, model.linear_units) == (score_units, 34)


def test_gpt3_layer_in_bytes_and_split_rows():
    """s·b·h = 25,165,824: 34 of them are 855,638,016 bytes, 80 of them 2,013,265,920."""
    acts = TransformerActivations(**{**GPT3, "layers": 2})
    assert acts.layer_bytes == 2_868_903_936
    ledger = acts.ledger()
    assert ledger[ACTIVATIONS].total_bytes == 1_711_276_032
    assert ledger[ATTENTION_SCORES].total_bytes == 4_026_531_840
    assert ledger.total_bytes == acts.total_bytes == 5_737_807_872


def test_scores_count_as_omitted_only_while_they_are_not_a_row():
    assert ATTENTION_SCORES not in TransformerActivations(**GPT3).ledger().omits
    assert ATTENTION_SCORES in TransformerActivations(**GPT3, recompute="selective").ledger().omits


def test_score_row_agrees_with_the_formula():
    row = attention_scores_row(sequences=1, positions=2048, heads=96, layers=96)
    assert row.total_bytes == TransformerActivations(**GPT3).ledger()[ATTENTION_SCORES].total_bytes


def test_zero_paper_gpt2_needs_about_60_gb():
    """12 · 1600 · 32 · 1024 · 48 · 2 bytes."""
    acts = MODELS["gpt2-1.5b"].saved(sequences=32, arrays_per_layer=ZERO_PAPER_ARRAYS)
    assert acts.total_bytes == 60_397_977_600


def test_every_omitted_item_can_be_counted():
    need = model_state(1_000_000) + SavedActivations(**CHAPTER).ledger()
    assert need.omits == STEP_OMITS
    shape = {"sequences": 2, "positions": 128}
    rows = [
        attention_scores_row(**shape, heads=4, layers=4),
        embeddings_row(**shape, width=64),
        logits_row(**shape, vocabulary=1000),
        workspace_row(n_bytes=500_000),
        communication_row(n_bytes=250_000),
        fragmentation_row(need, percent=5),
    ]
    # b·a·s²·L·5; b·s·h·2; b·s·v·4; given; given; 5% of 17,310,720
    expected = [2_621_440, 32_768, 1_024_000, 500_000, 250_000, 865_536]
    assert [row.total_bytes for row in rows] == expected
    for row in rows:
        need = need.with_row(row)
    assert need.omits == ()
    assert need.total_bytes == 22_604_464


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"tensor_parallel": 7}, "heads"),
        ({"tensor_parallel": 5, "width": 64, "heads": 5}, "width"),
        ({"tensor_parallel": 8, "positions": 100, "sequence_parallel": True}, "positions"),
        ({"recompute": "some"}, "recompute"),
        ({"sequence_parallel": 1}, "sequence_parallel"),
        ({"sequences": 0}, "sequences"),
        ({"layers": 2.0}, "layers"),
        ({"heads": True}, "heads"),
    ],
)
def test_impossible_layers_are_refused(settings, named):
    with pytest.raises(CourseError, match=named):
        TransformerActivations(**{**GPT3, **settings})


@pytest.mark.parametrize("bad", [-1, float("nan"), float("inf"), "5", None, True])
def test_bad_fragmentation(bad):
    with pytest.raises(CourseError, match="percent"):
        fragmentation_row(model_state(10), percent=bad)


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: workspace_row(n_bytes=1.5), "n_bytes"),
        (lambda: communication_row(n_bytes=-1), "n_bytes"),
        (lambda: logits_row(sequences=1, positions=1, vocabulary=0), "vocabulary"),
        (
            lambda: attention_scores_row(sequences=1, positions=1, heads=1, layers=1, bytes_each=2),
            "bytes_each",
        ),
        (lambda: fragmentation_row(17, percent=5), "ledger"),
    ],
)
def test_bad_rows(make, named):
    with pytest.raises(CourseError, match=named):
        make()


def test_model_presets_are_the_published_ones():
    sizes = {key: (m.width, m.layers, m.heads, m.positions) for key, m in MODELS.items()}
    assert sizes == {
        "gpt2-124m": (768, 12, 12, 1024),
        "gpt2-1.5b": (1600, 48, 25, 1024),
        "llama3-8b": (4096, 32, 32, 8192),
        "gpt3-175b": (12_288, 96, 96, 2048),
        "mt-nlg-530b": (20_480, 105, 128, 2048),
        "1t": (25_600, 128, 160, 2048),
    }
    llama = MODELS["llama3-8b"]
    assert (llama.parameters, llama.feed_forward, llama.vocabulary) == (8_030_000_000, 14_336, 128_256)
    assert MODELS["gpt2-124m"].parameters == 124_475_904


def test_formula_refuses_a_model_it_was_not_written_for():
    with pytest.raises(CourseError, match="前馈宽度"):
        MODELS["llama3-8b"].transformer()


def test_bad_model():
    with pytest.raises(CourseError, match="width"):
        Model(
            title="甲",
            source="乙",
            parameters=1,
            width=0,
            layers=1,
            heads=1,
            positions=1,
            vocabulary=1,
            feed_forward=1,
        )
