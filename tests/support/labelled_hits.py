"""Hits of caches and of knowledge stores as users meet them, with what a person says of each."""

from typing import NamedTuple


class Hit(NamedTuple):
    """A query and the text that a store matched with it."""

    store: str
    query: str
    matched: str
    right: bool


def _hits(store: str, lines: str) -> tuple[Hit, ...]:
    """A line a hit: + or - for right or wrong, query | matched text."""
    rows = ((line[0] == "+", line[2:].split(" | ")) for line in lines.strip().splitlines())
    return tuple(Hit(store, query, matched, right) for right, (query, matched) in rows)


_CACHE = """
+ How do I reset my password? | How can I reset my password?
- How do I reset my password? | How do I change my username?
- How do I cancel my subscription? | How do I renew my subscription?
+ What is the capital of Australia? | What is Australia's capital?
- What is the capital of Australia? | What is the capital of Austria?
+ Can I take ibuprofen with alcohol? | Is it okay to take ibuprofen with alcohol?
- Can I take ibuprofen with alcohol? | Can I take ibuprofen without food?
- When does the pharmacy open on Sundays? | When does the pharmacy close on Sundays?
+ When does the pharmacy open on Sundays? | On Sundays, when does the pharmacy open?
- How many vacation days do I get after 5 years? | How many vacation days do I get after 10 years?
+ How many vacation days do I get after 5 years? | After five years, how many vacation days do I get?
- Which flights go from Lisbon to Madrid? | Which flights go from Madrid to Lisbon?
+ Which flights go from Lisbon to Madrid? | What flights are there from Lisbon to Madrid?
- Is the warranty void if I open the case? | Is the warranty not void if I open the case?
- How do I export a report as PDF? | How do I import a report as PDF?
+ How do I export a report as PDF? | How can I export reports as a PDF?
- Why was my payment declined? | When was my payment declined?
+ Why was my payment declined? | What is the reason my payment was declined?
- Who founded the company? | Who bought the company?
- Convert 50 euros to dollars | Convert 50 dollars to euros
+ Convert 50 euros to dollars | Please convert 50 euros to dollars
+ How do I log in to the student portal? | How do I login to the student portal?
+ Can employees bring pets to the office? | Are employees allowed to bring pets to the office?
- Can employees bring pets to the office? | Can visitors bring pets to the office?
- What is the maximum file size for uploads? | What is the minimum file size for uploads?
+ What is the maximum file size for uploads? | What's the largest file size for uploads?
+ How long should I boil an egg? | How long should I boil eggs?
- How long should I boil an egg? | How long should I fry an egg?
- Which vaccines are required before travelling to Kenya? | Which vaccines are recommended after travelling to Kenya?
+ How do I delete my account? | How do I remove my account?
+ How do I connect the printer to wifi? | How can I connect my printer to WiFi?
- How do I connect the printer to wifi? | How do I disconnect the printer from wifi?
+ What time does the gym open? | When does the gym open?
- What time does the gym open? | Where is the gym?
- Is breakfast included in the room rate? | Is parking included in the room rate?
+ Is breakfast included in the room rate? | Does the room rate include breakfast?
- How do I add a user to my team? | How do I remove a user from my team?
+ How do I add a user to my team? | How do I add users to a team?
- Translate good morning into Spanish | Translate good evening into Spanish
+ Translate good morning into Spanish | Translate good morning to Spanish
- Is it safe to eat raw salmon during pregnancy? | Is it safe to eat cooked salmon during pregnancy?
+ Is it safe to eat raw salmon during pregnancy? | During pregnancy, is it safe to eat raw salmon?
- What documents do I need to open a bank account? | What documents do I need to close a bank account?
+ What documents do I need to open a bank account? | Which documents are needed to open a bank account?
- How much does it cost to ship a 2 kg parcel? | How much does it cost to ship a 20 kg parcel?
+ How much does it cost to ship a 2 kg parcel? | What does shipping a 2 kg parcel cost?
- Did Germany beat Brazil in 2014? | Did Brazil beat Germany in 2014?
+ Why is the sky blue? | Why does the sky look blue?
- Can I get a refund if I cancel before the trial ends? | Can I get a refund if I cancel after the trial ends?
+ My screen is flickering, what can I do? | My screen flickers. What can I do?
"""

_KNOWLEDGE = """
- The seal is worn. | The seal is not worn.
+ The seal is worn. | Inspection report: the pump seal is worn and has to be replaced.
- The museum opens at 9 am. | The museum opens at 10 am.
+ The museum opens at 9 am. | From Tuesday to Sunday the museum opens at 9 am; admission is free for children.
+ Refunds are paid within 14 days. | We pay refunds within 14 days of the return.
- Refunds are paid within 14 days. | Refunds are paid within 30 days.
- The drug lowers blood pressure. | The drug raises blood pressure.
+ The drug lowers blood pressure. | In two trials the drug reduced blood pressure in most patients.
- Anna hired Peter. | Peter hired Anna.
+ Anna hired Peter. | Peter was hired by Anna in March.
- The red valve must be closed before the blue valve is opened. | The blue valve must be closed before the red valve is opened.
+ The red valve must be closed before the blue valve is opened. | Close the red valve before opening the blue valve.
- Parking is free for residents. | Parking is free for visitors.
+ Parking is free for residents. | Residents can park free of charge. Parking is free for residents with a permit.
- The contract can be terminated with three months' notice. | The contract can be terminated.
+ The contract can be terminated with three months' notice. | Either party may terminate the contract with three months' notice to the end of a quarter.
- All members may vote. | Some members may vote.
- No members may vote. | All members may vote.
+ Water boils at 100 degrees at sea level. | At sea level, water boils at 100 degrees.
+ Sales rose by more than 100 units in 2021. | In 2021 sales rose by 120 units.
- The storm destroyed the harbour and the old lighthouse. | The storm destroyed the harbour.
+ The storm destroyed the harbour. | The storm destroyed the harbour and the old lighthouse.
- The lake is deeper than the river. | The river is deeper than the lake.
- The committee rejected the proposal. | The committee approved the proposal.
+ The committee rejected the proposal. | The proposal was turned down; the committee rejected it on Friday.
+ The bridge was built by the Romans in stone. | The bridge, made of stone, was built by the Romans.
- The bridge was built by the Romans in stone. | The bridge was built by the Normans in stone.
- The child must wear a helmet. | The child must remove the helmet.
+ Dogs are allowed on the beach in winter. | In winter, dogs are permitted on the beach.
- Dogs are allowed on the beach in winter. | Dogs are allowed on the beach in summer.
+ What is the return period for shoes? | The return period for shoes is 60 days.
- The server has enough memory. | The server does not have enough memory.
+ The patient is unable to walk. | The patient is not able to walk.
- The patient is unable to walk. | The patient is able to walk.
- The invoice is due on 15 May. | The invoice is due on 15 June.
+ The invoice is due on 15 May. | Payment reminder: the invoice is due on 15 May and must be paid by transfer.
- Smoking is prohibited on the balcony. | Smoking is permitted on the balcony.
+ Smoking is prohibited on the balcony. | It is forbidden to smoke on the balcony. Smoking is also prohibited in the hall.
+ The battery lasts at least 8 hours. | The battery lasts 10 hours.
- The battery lasts at least 8 hours. | The battery lasts 6 hours.
- The vaccine is given to children over the age of two. | The vaccine is given to adults over the age of two.
+ The company bought its rival in 2019. | In 2019 the company acquired its rival for 3 million euros.
- The company bought its rival in 2019. | The company sold its rival in 2019.
- The teacher thanked the student. | The student thanked the teacher.
+ The teacher thanked the student. | The student was thanked by the teacher after class.
- Employees with two children receive an allowance. | Employees receive an allowance.
+ Employees receive an allowance. | Employees receive a monthly allowance for meals.
- The pump failed during the test. | The pump did not fail during the test.
+ The pump failed during the test. | During the pressure test the pump broke down; the pump failed twice.
+ Every ticket includes a drink. | A drink is included with every ticket.
- Every ticket includes a drink. | No ticket includes a drink.
- Turn the key clockwise to lock the door. | Turn the key clockwise to unlock the door.
- The meeting was moved from Monday to Thursday. | The meeting was moved from Thursday to Monday.
+ Bees pollinate apple trees. | Apple trees are pollinated by bees.
"""  # noqa: E501

_QUESTIONS = """
+ Where is the head office? | Our headquarters are in Basel.
- Where is the head office? | Our headquarters were rebuilt twice.
+ When does the pool open? | The swimming pool opens at seven every morning.
- When does the pool open? | The swimming pool closes at nine every evening.
- When does the pool open? | The swimming pool has three lanes and a slide.
+ How much does a day pass cost? | The day pass is 14 euros for adults.
- How much does a day pass cost? | The day pass can be bought at the gate.
- How much does a day pass cost? | A month pass costs 90 euros.
+ Who founded the museum? | The museum was founded by Clara Voss.
- Who founded the museum? | The museum was founded in 1911.
+ Why was the bridge closed? | The bridge was closed because its cables had rusted.
- Why was the bridge closed? | The bridge was closed in May.
+ which pass covers the night bus | The Moonlight pass covers the night bus.
- Which pass does not cover the night bus? | The Moonlight pass covers the night bus.
+ How do I reset my password? | To reset your password, click on “Forgotten”.
- How do I reset my password? | To change your username, write to us.
+ How many rooms does the hotel have? | The hotel has 42 rooms and a garden.
- How many rooms does the hotel have? | The hotel has large rooms and a garden.
+ Is parking free for guests? | Guests park free of charge behind the house.
+ Is parking free for guests? | Parking is not free for guests.
- Is parking free for guests? | Breakfast is free for guests.
+ When was Ada Brandt born? | Ada Brandt was born on 3 May 1951 in Lund.
- When was Ada Brandt born? | Ole Brandt was born on 3 May 1951 in Lund.
- When did Ada Brandt die? | Ada Brandt was born on 3 May 1951 in Lund.
+ Who can apply for the grant? | The grant pays for solar roofs. Owners of houses may apply for it until March.
- Who paid for the roof in 2019? | In 2017 the roof was paid for by the Lions Club.
+ Who paid for the roof in 2019? | In 2019 the roof was paid for by the Lions Club.
+ What is the return period for shoes? | Shoes may be returned within 60 days.
- What is the return period for shoes? | Hats may be returned within 60 days.
+ What is the oldest building in the town? | The oldest building in the town is a mill.
- What is the newest building in the town? | The oldest building in the town is a mill.
"""

HITS = (*_hits("cache", _CACHE), *_hits("knowledge", _KNOWLEDGE))

QUESTIONS = _hits("knowledge", _QUESTIONS)
"""Questions to a knowledge store and passages that it returned."""
