"""The sentences of tables 12 to 15 of the oracle-checker paper, and what became of them there.

Zeng, Wang and Ibbetson, "Oracle-Checker Scheme for Evaluating a Generative Large Language Model", appendix B. Its news
sentences come from the Microsoft Research Paraphrase Corpus. Quotation marks are as the paper prints them.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class YesCase:
    """Sentences of which the yes was to be proved (tables 12 to 14)."""

    name: str
    """Table and row."""
    first: str
    second: str
    proved: bool
    """The paper's outcome; no table says by which phi."""
    left_over: tuple[str, str] = ("", "")
    """The words of each sentence that the paper's alignment leaves over; parts divided by commas."""


@dataclass(frozen=True, slots=True)
class NoCase:
    """Sentences that the paper's subject called different, although one paraphrase is equivalent to both (table 15)."""

    name: str
    first: str
    second: str
    paraphrase: str
    """The subject's own, of the first sentence."""
    indifferentiable: bool
    """True if it aligned with the second sentence, as the paper's checker saw it."""


YESES = (
    YesCase(
        "12.1",
        "But he added group performance would improve in the second half of the year and beyond.",
        "De Sole said in the results statement that group performance would improve in the second half of the year and"
        " beyond.",
        proved=False,
        left_over=("But he", "De Sole"),
    ),
    YesCase(
        "12.2",
        "The first biotechnology treatment for asthma, the constriction of the airways that affects millions around the"
        " world, received approval from the US Food and Drug Administration yesterday.",
        "The first biotechnology treatment for asthma, the constriction of the airways that affects millions of"
        " Americans, received approval from the U.S. Food and Drug Administration on Friday.",
        proved=False,
        left_over=("around the world", "Americans"),
    ),
    YesCase(
        "12.3",
        "The University of Michigan released a new undergraduate admission process Thursday, dropping a point system"
        " the U.S. Supreme Court found unconstitutional in June.",
        "The University of Michigan released today a new admissions policy after the U.S. Supreme Court struck down in"
        " June the way it previously admitted undergraduates.",
        proved=False,
        left_over=(
            "Thursday, dropping a point system, found unconstitutional",
            "today, struck down, way it previously admitted undergraduates",
        ),
    ),
    YesCase(
        "13",
        "Sheena Young of Child, the national infertility support network, hoped the guidelines would lead to a more"
        ' "fair and equitable" service for infertility sufferers.',
        "Sheena Young, a spokesman for Child, the national infertility support network, said the proposed guidelines"
        ' should lead to a more "fair and equitable" service for infertility sufferers.',
        proved=True,
    ),
    YesCase(
        "14.1",
        "Marisa Baldeo stated, however, the authority's official uniform policy says \"they are not supposed to wear"
        " anything on their heads but a NYC transit depot logo cap.",
        "Marisa Baldeo mentioned that the official uniform policy of the authority specifies that employees should only"
        " wear a NYC transit depot logo cap on their heads and nothing else.",
        proved=True,
    ),
    YesCase(
        "14.2",
        'Sean Harrigan of Calpers, the California fund, said: "Today we are trying to pull the pig from the trough.',
        "Sean Harrigan from Calpers, the California fund, stated: 'Our current goal is to remove the pig from the"
        " feeding area.'",
        proved=True,
    ),
    YesCase(
        "14.3",
        "Tenet has been under scrutiny since November, when former Chief Executive Jeffrey Barbakow said the company"
        " used aggressive pricing to trigger higher payments for the sickest Medicare patients.",
        "Tenet has been under investigation since November, following former CEO Jeffrey Barbakow's statement that the"
        " company employed aggressive pricing to elicit increased payments for the most ill Medicare patients.",
        proved=True,
    ),
    YesCase(
        "14.4",
        "Another was in serious condition at Northwest Medical Center in Springdale.",
        "One more person was in critical condition at Northwest Medical Center in Springdale.",
        proved=False,
        left_over=("Another", "One more person"),
    ),
    YesCase(
        "14.5",
        "Meanwhile, rival contender, General Electric's NBC, submitted a letter of interest, a source familiar with the"
        " matter said.",
        "At the same time, General Electric's NBC, a competing contender, sent a letter of interest, according to a"
        " source who is knowledgeable about the situation.",
        proved=False,
        left_over=("Meanwhile", "At the same time"),
    ),
)

NOES = (
    NoCase(
        "15.1",
        "Police warned residents on Friday not to travel alone and to avoid convenience stores and service stations"
        " stores at night.",
        "Police advised residents Friday not to travel alone to convenience stores and to be watchful.",
        "Police on Friday cautioned residents against traveling alone and recommended avoiding convenience stores and"
        " service stations at night.",
        indifferentiable=True,
    ),
    NoCase(
        "15.2",
        "The company has expanded those basic services, offering payment and even financing.",
        "The company has expanded into providing other services for buyers, including payment services.",
        "The company has broadened its range of fundamental services, providing payment and even financing.",
        indifferentiable=True,
    ),
    NoCase(
        "15.3",
        "Its attackers had to launch their strike from hundreds of metres away, with a makeshift rocket launcher"
        " disguised as a portable electric generator.",
        "Its attackers had to fire their rockets from hundreds of yards away, with a makeshift launcher hidden in a"
        " portable electric generator.",
        "The assailants had to initiate their attack from a distance of several hundred meters using an improvised"
        " rocket launcher that was camouflaged as a portable power generator.",
        indifferentiable=True,
    ),
    NoCase(
        "15.4",
        "Rudder was most recently senior vice president for the Developer & Platform Evangelism Business.",
        "Senior Vice President Eric Rudder, formerly head of the Developer and Platform Evangelism unit, will lead the"
        " new entity.",
        "Rudder’s most recent role was as the senior vice president for the Developer & Platform Evangelism Business.",
        indifferentiable=False,
    ),
    NoCase(
        "15.5",
        '"I think you\'ll see a lot of job growth in the next two years," he said, adding the growth could replace jobs'
        " lost.",
        '"I think you\'ll see a lot of job growth in the next two years," said Mankiw.',
        "According to him, there is likely to be a substantial increase in employment opportunities in the next two"
        " years, with the potential for the growth to compensate for lost jobs.",
        indifferentiable=False,
    ),
    NoCase(
        "15.6",
        "No dates have been set for the criminal or civil cases, but Shanley has pleaded not guilty.",
        "No dates have been set for the civil or the criminal trial.",
        "No specific dates have been arranged for the criminal or civil cases, despite Shanley's plea of not guilty.",
        indifferentiable=False,
    ),
)
