"""Names in WEC-Sim scripts that are too long for a sentence."""

import pytest

import swelltree as sw
from made_wecsim import write_pendulum


def test_a_simulink_model_with_an_endless_name_is_one_sentence(tmp_path):
    folder = write_pendulum(tmp_path)
    script = folder / "wecSimInputFile.m"
    text = script.read_text()
    assert "model.slx" in text
    script.write_text(text.replace("model.slx", "model" + " 9" * 3000 + ".slx"))
    with pytest.raises(sw.SwelltreeError, match=r"Simulink model '.*9 9") as caught:
        sw.read_wecsim(folder)
    assert len(str(caught.value)) < 600
    assert "\n" not in str(caught.value)
