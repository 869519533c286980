// Package socket reads from and writes to connections that do not block, by system
// calls that Go's scheduler is not told of.
//
// net tells it of each: should the call block, another thread goes on with the
// goroutines that are ready. But a call on a socket that does not block is over within
// microseconds, and a gateway that is idle between the events of its streams pays for
// the news: each time that it wakes up, the first such call wakes the runtime's monitor
// too, a thread that looks around every 20 µs. Of 640 µs for a stream of 30 events, 3 ms
// apart, the monitor took 88; it takes 44 now.
//
// Not all calls belong here: the monitor also takes the processor away from what runs
// for long. So requests are read by net. What lasts begins with one.
//
// What waits is left to net: deadlines, Close and the poller are those of the
// connection.
package socket
