#!/bin/sh
# The net of the program, as it was made in two hours of two cores. It goes on from the one before, of 53 million positions, whose
# commands are in this file at 24ffe671; the games are played by the engine of that commit. The order of the positions was another.
set -e

git show 24ffe671:src/engine/net/shipped/n.net > before.net
echo export_net stockfish.nnue | stockfish                                   # Stockfish 15.1: nn-ad9b42354671
concilio-lab data --output games --nodes 40 --seed 9100 --games 325120       # 25 minutes beside another build
concilio-lab shuffle games --teacher-net stockfish.nnue --output positions   # 78 million, 15 minutes
concilio-lab train positions --start before.net --width 512 --labels result=0 --batch 16384 --epochs 10 --seed 7 --output n.net
