#!/bin/sh
# The net of the program, as it was made: in less than thirteen hours of one core, most of them for labels. Games depend on the
# search of their day (folders 61 to 68: 4b591ab; 101 to 107: 5a0dc64), and the commands are those of d3507c0: since then the
# net plays the games, and `concilio-lab shuffle` comes before `concilio-lab train`.
set -e

concilio-lab data --output own-200 --nodes 200 --seed 1 --games 70144      # 4.6 million positions of own games
concilio-lab data --output own-80 --nodes 80 --seed 2 --games 41472        # 2.6 million more, of quicker ones
concilio-lab data --output own-more --nodes 80 --seed 3 --games 240640     # 14.4 million
concilio-lab data --output own-more2 --nodes 80 --seed 4 --games 51200      # 3.1 million
concilio-lab data --output own-more3 --nodes 80 --seed 5 --games 174080     # 10.4 million
concilio-lab label own-200 --output old --teacher stockfish                # Stockfish 15.1, 64 nodes each; 4.1 million are quiet
concilio-lab label own-80 --output new80 --teacher stockfish               # 2.3 million
concilio-lab label own-more --output more --teacher stockfish              # 13.1 million
concilio-lab label own-more2 --output more2 --teacher stockfish
concilio-lab label own-more3 --output more3 --teacher stockfish            # 11.6 million with those before
concilio-lab train old new80 --epochs 18 --output n-first.net
concilio-lab train more --start n-first.net --epochs 5 --output n-second.net
concilio-lab train more more2 more3 --start n-second.net --epochs 8 --rate 0.0007 --output n-third.net
for seed in 61 62 63 64 65 66 67 68; do                                                 # 16.9 million, for n alone
  concilio-lab data --output own-$seed --nodes 80 --seed $seed --games 40960
  concilio-lab label own-$seed --output lab-$seed --teacher stockfish
done
concilio-lab train lab-6* --start n-third.net --width 256 --epochs 4 --rate 0.0006 --seed 71 --output n-fourth.net
for seed in 101 102 103 104 105 107; do                                                 # 6.0 million more
  concilio-lab data --output own-$seed --nodes 60 --seed $seed --games 20480
  concilio-lab label own-$seed --output lab-$seed --teacher stockfish
done
concilio-lab train lab-6[2-8] lab-10[1-5] --start n-fourth.net --epochs 8 --rate 0.0006 --seed 81 --output n-fifth.net
concilio-lab train lab-6[2-8] lab-10* --start n-fifth.net --epochs 12 --rate 0.0006 --seed 91 --output n-sixth.net
concilio-lab train lab-6[2-8] lab-10* --start n-sixth.net --epochs 22 --rate 0.001 --seed 92 --output n-seventh.net
concilio-lab train lab-6[2-8] lab-10* --start n-seventh.net --epochs 24 --rate 0.001 --seed 93 --output n.net
