"""Which questions ask for things that they do not name, and so for a sweep for sources first."""

import pytest

from agents.offline.planner import asks_for_a_list

LISTS = """\
Which cities have introduced a congestion charge since 2003?
List the studies that measured eelgrass survival in Tolven Bay.
Give me a list of companies that sell heat pumps in Norway.
Name all bridges that collapsed because of wind.
Which studies report carbon stored by eelgrass?
What companies build night trains in Europe?
In which countries are night trains subsidised?
Welche Städte haben eine Citymaut eingeführt?
Nenne alle Studien, die das Überleben von Seegras gemessen haben.
Quelles villes ont introduit un péage urbain ?
¿Qué ciudades han introducido un peaje urbano?"""

NO_LISTS = """\
Which effects did the move of passport checks on board have on stopping times?
Which of the two is cheaper?
Which city was first to introduce a congestion charge?
In which year was Eelgrass Watch founded?
Which reforms are proposed?
What explains the difference?
What drives prices for flats?
What is the capital of Norway?
Compare brick, timber and steel with regard to cost.
Which cities are noisier, Vienna, Munich or Prague?
Which differences in plots and counting explain the spread?
Welche Folgen hatte die Maut?
Welche Stadt hat die Maut eingeführt?
Quelles sont les causes de la crise ?
Name the conditions on which it depends.
Find out how often the line was closed.
Which company built the Tacoma Narrows Bridge?"""


@pytest.mark.parametrize("text", LISTS.splitlines())
def test_a_plural_or_an_order_for_a_list_asks_for_things_it_does_not_name(text: str) -> None:
    assert asks_for_a_list(text)


@pytest.mark.parametrize("text", NO_LISTS.splitlines())
def test_what_is_asked_about_a_known_thing_is_no_list(text: str) -> None:
    assert not asks_for_a_list(text)
