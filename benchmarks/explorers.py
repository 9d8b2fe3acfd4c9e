"""Measure explorers in a real JupyterLab: one change and a drag, against a bare slider and ``interact``.

Run ``python -m benchmarks.explorers [NAME ...]`` from the project's folder; it needs Chromium. For each
explorer one notebook is opened: a slider that only writes its number, the explorer, the same picture by
``ipywidgets.interact`` and pyplot, and, where there is one, the explorer's large case. All get the same keys
in the same run, on the slider that the explorer is about (``SLIDERS``, else the first); a change counts from
the key to the last painted change. Figures are medians in milliseconds; ``load`` is the machine's while it
was measured: above half its cores, compare ratios only, and them with care.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from statistics import median

import nbformat

from course_lib.show.controls import Number
from course_lib.show.explorers import all_explorers
from tests.browser.harness import NotebookPage, chromium
from tests.browser.lab import running_lab

CHANGES, DRAG = 12, 100

# The slider that an explorer is about, where it is not the first; and the preset that is its large case.
SLIDERS = {
    "filling_up": "parameters", "lifetimes": "kept", "event_mean": "g_a", "one_update": "g_a",
    "pipeline": "microbatches", "matrix_split": "outputs", "one_page": "arrays_per_layer",
    "larger_microbatch": "sequences",
}  # fmt: skip
LARGE = {"lifetimes": "128 层 × 512 个微批次", "pipeline": "64 个阶段，512 个微批次"}

BARE = """
import ipywidgets
number, word = ipywidgets.IntSlider(50, 0, 200), ipywidgets.HTML("50")
number.observe(lambda change: setattr(word, "value", str(change["new"])), "value")
ipywidgets.VBox([number, word])
"""
OURS = "from {module} import {name}\n{name}()"
BIG = "large = {name}()\nlarge.set(**large.presets[{preset!r}])\nlarge"
INTERACT = """
import sys
from collections import namedtuple
import ipywidgets
import matplotlib.pyplot as plt
from course_lib.show.fonts import use_course_font
from course_lib.show.stage import _RC
import {module} as module

class Recipe:
    def __init__(self, **parts):
        self.__dict__.update(parts)

class Paper:
    def __init__(self, width, height):
        self.width, self.height = width, height
        self.figure = plt.figure(figsize=(width / 100, height / 100), dpi=200, layout="constrained")
        self.axes = self.figure.subplots
    def moves(self, *artists):
        return artists[-1]

use_course_font()
kept, module.Explorer = module.Explorer, Recipe
recipe, module.Explorer = module.{name}(), kept
book = {{control.name: control.book for control in recipe.controls}}
first = next(control for control in recipe.controls if control.name == {slider!r})

@ipywidgets.interact(place=(0, len(first.stops) - 1))
def draw(place=list(first.stops).index(first.book) if first.book in first.stops else 0):
    inputs = namedtuple("Inputs", book)(**book | {{first.name: first.stops[place]}})
    result = recipe.compute(inputs)
    with plt.rc_context(_RC):
        recipe.picture(Paper(*getattr(recipe, "size", (760, 400))))(inputs, result)
        plt.show()
    print(recipe.sentence(inputs, result))
"""

# Notes the time of every key and pointer event, and of every paint that follows a change in a cell's output.
WATCH = """
() => {
  const seen = window.seen = {events: [], paints: []};
  const paint = () => requestAnimationFrame(() => { const channel = new MessageChannel();
      channel.port1.onmessage = () => seen.paints.push(performance.now()); channel.port2.postMessage(0) });
  const ours = node => node.closest && node.closest('.jp-OutputArea')
    && !node.closest('.noUi-target, .widget-readout');
  new MutationObserver(changes => changes.forEach(change => {
    const node = change.target.nodeType === 1 ? change.target : change.target.parentElement;
    if (!node || !ours(node)) return;
    const images = node.tagName === 'IMG' ? [node] : [...node.querySelectorAll('img')];
    if (change.type === 'attributes' && node.tagName !== 'IMG') return;
    images.length ? images.forEach(image => image.decode().then(paint, () => {})) : paint();
  })).observe(document.body, {subtree: true, childList: true, characterData: true, attributeFilter: ['src']});
  for (const kind of ['keydown', 'pointermove'])
    document.addEventListener(kind, event => seen.events.push(event.timeStamp), true);
}
"""
QUIET = """
async wait => { const begin = performance.now();
  while (performance.now() - begin < 15000) {
    const last = Math.max(begin, ...seen.paints);
    if (seen.paints.length && performance.now() - last > wait) break;
    await new Promise(done => setTimeout(done, 10)) }
  const noted = {events: [...seen.events], paints: [...seen.paints]};
  seen.events.length = seen.paints.length = 0;
  return noted }
"""


def one_change(page, handle) -> float:
    """Median time of a single change by keyboard."""
    handle.focus()
    times = []
    for number in range(CHANGES + 2):
        page.keyboard.press("ArrowRight" if number % 8 < 4 else "ArrowLeft")
        noted = page.evaluate(QUIET, 300)
        if noted["paints"]:
            times.append(noted["paints"][-1] - noted["events"][0])
    return median(times[2:])


def one_drag(page, handle) -> tuple[float, float]:
    """Time from the last event of a drag to the last picture, and pictures per second during it."""
    handle.scroll_into_view_if_needed()
    knob = handle.bounding_box()
    track = handle.evaluate_handle("knob => knob.closest('.noUi-base')").as_element().bounding_box()
    x, y = knob["x"] + knob["width"] / 2, knob["y"] + knob["height"] / 2
    goal = track["x"] + track["width"] * (0.9 if x < track["x"] + track["width"] / 2 else 0.1)
    page.mouse.move(x, y)
    page.mouse.down()
    page.evaluate("() => { seen.events.length = seen.paints.length = 0 }")
    for step in range(1, DRAG + 1):
        page.mouse.move(x + (goal - x) * step / DRAG, y)
    page.mouse.up()
    noted = page.evaluate(QUIET, 1000)
    events, paints = noted["events"], noted["paints"]
    during = [paint for paint in paints if paint <= events[-1]]
    return paints[-1] - events[-1], 1000 * len(during) / max(events[-1] - events[0], 1)


def cells(maker, slider: str) -> list[str]:
    """Return the sources of the cells."""
    names = {"module": maker.__module__, "name": maker.__name__, "slider": slider}
    large = LARGE.get(maker.__name__)
    last = [BIG.format(**names, preset=large)] if large else []
    return [BARE, OURS.format(**names), INTERACT.format(**names), *last]


def write(maker, slider: str, folder: Path) -> Path:
    """Write the notebook that compares one explorer."""
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(metadata={"kernelspec": kernel})
    notebook.cells = [nbformat.v4.new_code_cell(source.strip()) for source in cells(maker, slider)]
    path = folder / f"{maker.__name__}.ipynb"
    nbformat.write(notebook, path)
    return path


def numbers(maker) -> list[str]:
    """Return the names of an explorer's sliders, in their order on screen."""
    return [control.name for control in maker().controls if isinstance(control, Number)]


def measure(browser, lab, path: Path, place: int) -> str:
    """Open one notebook and return its line of the report; ``place`` is that of the slider moved."""
    notebook = NotebookPage.open(browser, lab, path.name)
    notebook.run_all()
    notebook.page.evaluate(WATCH)
    outputs = notebook.page.query_selector_all(".jp-OutputArea-output")
    found = [each for each in (output.query_selector_all(".noUi-handle") for output in outputs) if each]
    bare, ours, interact, *large = [each[place if len(each) > place else 0] for each in found]
    single = [one_change(notebook.page, handle) for handle in (bare, ours, interact, *large)]
    (settle, _), (settled, rate) = [one_drag(notebook.page, handle) for handle in (bare, ours)]
    notebook.close()
    big = f"{single[3] / single[1]:6.1f}" if large else "     -"
    return (
        f"{path.stem:18} {single[0]:5.0f} {single[1]:7.0f} {single[1] / single[0]:6.2f} {single[2]:9.0f}"
        f" {single[2] / single[1]:6.1f} {big} {settle:10.0f} {settled:6.0f} {rate:6.0f}"
        f" {os.getloadavg()[0]:6.1f}"
    )


def main(wanted: list[str]) -> None:
    """Measure the named explorers, or all."""
    makers = [maker for maker in all_explorers() if not wanted or maker.__name__ in wanted]
    names = {maker: numbers(maker) for maker in makers}
    moved = {maker: SLIDERS.get(maker.__name__, names[maker][0]) for maker in makers if names[maker]}
    print("explorer            bare  change  ratio  interact  times  large  drag bare   drag  pic/s   load")
    with tempfile.TemporaryDirectory() as folder:
        paths = {maker: write(maker, slider, Path(folder)) for maker, slider in moved.items()}
        with running_lab(list(paths.values())) as lab, chromium() as browser:
            for maker, path in paths.items():
                print(measure(browser, lab, path, names[maker].index(moved[maker])), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
