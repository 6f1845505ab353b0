// Package drain follows pods while they move: it knows the topology terms that bind them to
// others, and tells whether each may land when it does.
package drain

// A map of this package's files.
//
//	topology    the topology terms of pods, and what they count
//	simulation  the cluster while pods leave and land
