-- Workers on other machines: whose cores a proposal was computed on. NULL is the machine that played the game.
ALTER TABLE proposals ADD COLUMN machine TEXT;
