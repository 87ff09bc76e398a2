//! What both searches find, and that they end when they are told to.
