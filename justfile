# The commands of a contributor: `just` lists them. Each is one line that works without just, too.

[private]
default:
    @just --list

# A game of the council in the terminal and in the browser
demo:
    cargo run -- demo

# Compile everything, tests included, without running it
check:
    cargo check --all-targets

# All tests, or those whose names contain NAME
test NAME="":
    cargo test {{NAME}}

# The tests of one package: just package council
package NAME:
    cargo test -p concilio-{{NAME}}

# Install the programs of other projects that tests need
tools:
    tests/install-tools

# Format everything
format:
    cargo fmt --all

# What the compiler and clippy have against the code
lint:
    cargo clippy --all-targets -- -D warnings

# The documentation of the packages, in the browser
doc:
    cargo doc --no-deps --open

# Speed of move generation beside shakmaty
bench:
    cargo bench --bench perft

# Everything that a change must pass
ci:
    .ci/run
