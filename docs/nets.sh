#!/bin/sh
# The net of the program, as it was made in two hours of two cores. It goes on from the one before, of 131 million positions, whose
# commands are in this file at 0395da7f; the games are played by the engine of that commit.
set -e

git show 0395da7f:src/engine/net/shipped/n.net > before.net
echo export_net stockfish.nnue | stockfish                                   # Stockfish 15.1: nn-ad9b42354671
concilio-lab data --output games --nodes 24 --seed 9200 --games 500000       # half an hour
concilio-lab shuffle games --teacher-net stockfish.nnue --output positions   # 100 million, 15 minutes
concilio-lab train positions --start before.net --width 512 --labels result=0 --batch 16384 --epochs 2 --rate 0.0008 --seed 8 \
  --output n.net                                                             # 32 minutes
