// Package gaps reports how far plans are above what they prove to be the least possible,
// and where another planner is cheaper.
package gaps
