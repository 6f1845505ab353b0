package launchplan

import (
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// launch is a launch of the plan with the objects that it names.
type launch struct {
	*scheduling.Launch
	object string
	pool   *snapshot.Pool
	nodes  []*snapshot.Node // one per option, nil where the catalog knows none
	pods   []*snapshot.Pod
	node   *snapshot.Node // the first option as it stands, nil if it is not known
}

// first returns the first option, which price, limits and reservations count; nil if the catalog does not have it.
func (l *launch) first() *snapshot.Node {
	if len(l.nodes) == 0 {
		return nil
	}
	return l.nodes[0]
}

// promises returns the knowledge about labels that the provider sets: pods may rely on the requirements of the
// launch.
func (l *launch) promises(key string) snapshot.Opening {
	known := snapshot.About(key, snapshot.FromSelectors(l.Requirements))
	if !l.pool.Providers(key) || len(known) == 0 {
		return snapshot.Opening{}
	}
	return snapshot.Opening{Rule: snapshot.Every, Known: known}
}

// ObjectName returns the name of a launch in violations.
func ObjectName(l *scheduling.Launch) string { return "launch/" + l.Name }

// launchCheck judges launches, one by one, each with all of its options.
type launchCheck struct {
	report *rule.Report
	state  *snapshot.State
	bounds []snapshot.SpotBound
	// launches are those judged so far, in the order of the plan. planned are the nodes that options name, by the
	// text that distinguishes them, because launches of one pool share most of theirs.
	launches []*launch
	planned  map[string]*snapshot.Node
}
