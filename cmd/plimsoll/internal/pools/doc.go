// Package pools changes NodePools by flags: it assumes one where the input has none, and lets NodePools launch nodes that
// their requirements exclude.
package pools
