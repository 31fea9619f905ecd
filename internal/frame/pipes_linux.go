package frame

// watchEvents: Linux reports POLLERR without being asked for anything.
const watchEvents = 0
