// Package hosts reads what runs: the nodes, each with its pods and what these take together,
// keep away and have claimed, whatever pods are to be placed. A host that has not changed is taken
// over from one plan to the next.
package hosts
