package gaps

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/corpus"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/duel"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/planner"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Finding is what came of one instance.
type Finding struct {
	Instance corpus.Instance
	// Ours are the results at our efforts, Others those of the other planners that can
	// express the instance.
	Ours, Others []peer.Result
	// Losses say where another planner is better than we are at some effort.
	Losses []Loss
}

// Loss is another planner that places more pods than one of our efforts, or as many for
// less.
type Loss struct {
	Instance     string
	Ours, Theirs peer.Result
	// Broken are the rules that its machines break: it does not count as better then.
	Broken []string
}

// String says it in a line.
func (l Loss) String() string {
	text := fmt.Sprintf("%s: %s places %d for %s, %s %d for %s", l.Instance, l.Theirs.Peer, l.Theirs.Placed, l.Theirs.Price, l.Ours.Peer, l.Ours.Placed, l.Ours.Price)
	if len(l.Broken) > 0 {
		text += ", against the rules (" + strings.Join(l.Broken, ", ") + ")"
	}
	return text
}

// Solve lets all planners solve the instance. The planners that are ours are those of
// package planner. What another planner cannot express it leaves out.
func Solve(ctx context.Context, in corpus.Instance, peers []peer.Peer, o peer.Options) (*Finding, error) {
	f := &Finding{Instance: in}
	outcomes := map[string]peer.Outcome{}
	var faults []error
	for _, p := range peers {
		r, outcome, err := peer.Measure(ctx, p, in.Name, in.Problem, o)
		var unsupported *peer.UnsupportedError
		switch _, ours := p.(planner.Peer); {
		case errors.As(err, &unsupported):
		case err != nil:
			faults = append(faults, err)
		case ours:
			f.Ours = append(f.Ours, r)
		default:
			f.Others = append(f.Others, r)
			outcomes[r.Peer] = outcome
		}
	}
	for _, theirs := range f.Others {
		for _, ours := range f.Ours {
			if beats(theirs, ours) {
				f.Losses = append(f.Losses, Loss{Instance: in.Name, Ours: ours, Theirs: theirs, Broken: broken(in.Problem, outcomes[theirs.Peer])})
			}
		}
	}
	return f, errors.Join(faults...)
}

// beats is whether a places more pods than b, or as many for less.
func beats(a, b peer.Result) bool {
	return a.Placed > b.Placed || a.Placed == b.Placed && a.Price < b.Price
}

// broken are the rules that the machines of an outcome break, sorted.
func broken(p scheduling.Problem, o peer.Outcome) []string {
	var out []string
	for code := range duel.Broken(p, o, scheduling.Solver{}) {
		out = append(out, string(code))
	}
	slices.Sort(out)
	return out
}
