# The commands of README.md. Each needs only Node 18+ with npm, Python 3.12+, git and make; the rest is installed, pinned, on first use.
.DEFAULT_GOAL := help
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
export ONCE REPO BASE HEAD ONLY QUICK FORCE SERVER TOKEN SEED SEEDS

# Installs the workspace when needed and runs a command with Node 24 and the tools of the workspace first on PATH.
RUN := scripts/bootstrap.sh

.PHONY: help setup demo verify build bench conformance chaos

help:
	@echo "make demo                     two reviews on the real engines, with pages to look at; Ctrl-C stops everything"
	@echo "make demo ONCE=1              the same, prints both comments and ends"
	@echo "make demo ONCE=1 REPO=<path> BASE=<rev> HEAD=<rev>   the same for a change of yours"
	@echo "make verify                   everything that gates a change"
	@echo "make bench [ONLY=intake,queue] [QUICK=1] [FORCE=1]   speed beside peers and the physical limit, one JSON line per bar; exit 1 on a miss"
	@echo "make conformance SERVER=<url> TOKEN=<token> [ONLY=<text>] [QUICK=1]   does a server keep the runner protocol? Uses up 5 waiting jobs"
	@echo "make chaos [SEEDS=20] [SEED=n]   seeded runs of kills, faults and lost webhooks, one JSON line; exit 1 when a promise is broken"
	@echo "make setup                    installs what the other commands need"
	@echo "make build                    one bundled file per app in dist/"

setup:
	@$(RUN) node scripts/setup/setup.ts

demo: setup
	@$(RUN) node scripts/demo/demo.ts

verify:
	@$(RUN) node scripts/verify.ts

build:
	@$(RUN) node scripts/build.ts

bench:
	@$(RUN) node bench/main.ts

conformance:
	@$(RUN) node conformance/main.ts

chaos:
	@$(RUN) node tests/chaos/main.ts
