"""Delivery and throughput on Apache Kafka.

    python -m benchmarks.delivery [--only kill,outage,two,rubbish,throughput,slow,rough,one-subject,faults,sustained]
                                  [--rounds N] [--calls N] [--answered N] [--faults N] [--seed N] [--minutes N]
                                  [--rate N]

`kill`, `outage`, `two`, `rubbish`: the long half of what a worker promises; the tests run the short half of the same
scenarios. A figure is wrong if a record was lost, a repeat carried another id, or a malformed message has no dead
letter.

`throughput`: records a second that one partition gives with the consistency checker and a judge behind an endpoint that
takes 200 ms for a call and 64 at once: 320 calls a second at best. The bound is the share of that.

`slow`: the pace of records with short questions to an endpoint that answers those in a second, 64 at once, and long
ones never; alone, and with long ones among them. All settings are the defaults. The bound is the share of the pace
alone.

`rough`: the pace of two workers with a judge that answers any number at once, and of 1,000 requests refuses 10 as too
many, fails on 10, leaves 3 without an answer for 40 s and answers 7 with rubbish; in turns with the same judge without
faults. The bound is the share of that pace, of the first 95% of the records.

`one-subject`: records of one application and model with 1, 2 and 4 workers, with a checker that waits and with one that
computes. The bounds are the multiples of one worker's rate, where it waits.

`faults`: two workers, the trust monitor and an archivist with a store in SQLite, on three brokers, with a judge behind
an endpoint. Faults of all kinds, some 2 s apart and several at once: any process is killed, frozen, restarted or cut
off, the judge is slow, down or talks rubbish, the archivist's disk is full, clocks jump by up to 50 minutes. Then every
record is accounted for.

`sustained`: two workers with a checker that costs nothing, and the trust monitor, on three brokers, at the highest rate
that they hold on this machine, with faults of workers, monitor and brokers some 6 s apart for `--minutes`; then ten
times as much for a minute.
"""

import sys
from functools import partial

from benchmarks.delivery import faults, one_subject, rough, slow, throughput
from benchmarks.delivery.scenarios import SCENARIOS, keeps_promise
from benchmarks.running import Part, run_parts

PARTS = {name: Part(partial(keeps_promise, name)) for name in SCENARIOS} | {
    "throughput": Part(lambda options: throughput.measure(options.calls)),
    "slow": Part(lambda options: slow.measure(options.answered)),
    "rough": Part(lambda options: rough.measure(options.answered, options.rounds)),
    "one-subject": Part(lambda _: one_subject.measure()),
    "faults": Part(lambda options: faults.endure(options.faults, options.seed)),
    "sustained": Part(lambda options: faults.sustain(options.minutes, options.seed, options.rate)),
}

OPTIONS = {
    "--rounds": (3, "of the part rough"),
    "--answered": (3_000, "records of a run of slow or rough"),
    "--faults": (1000, "of the part faults"),
    "--seed": (7, "of the faults"),
    "--minutes": (10.0, "of the part sustained"),
    "--rate": (float, "records a second of the part sustained (default: found out)"),
    "--calls": (4000, "of the part throughput"),
}


if __name__ == "__main__":
    sys.exit(run_parts("delivery", PARTS, __doc__, OPTIONS))
