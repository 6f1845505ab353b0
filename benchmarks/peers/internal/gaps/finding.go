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

// Answer is what one planner made of an instance.
type Answer struct {
	Result  peer.Result
	Outcome peer.Outcome
	// Ours says that the planner is the library at one of its efforts.
	Ours bool
}

// Ask lets the planners solve the instance. What one cannot express it leaves out.
func Ask(ctx context.Context, in corpus.Instance, peers []peer.Peer, o peer.Options) ([]Answer, error) {
	var answers []Answer
	var faults []error
	for _, p := range peers {
		r, outcome, err := peer.Measure(ctx, p, in.Name, in.Problem, o)
		var unsupported *peer.UnsupportedError
		switch _, ours := p.(planner.Peer); {
		case errors.As(err, &unsupported):
		case err != nil:
			faults = append(faults, err)
		default:
			answers = append(answers, Answer{r, outcome, ours})
		}
	}
	return answers, errors.Join(faults...)
}

// Compare is what came of the answers.
func Compare(in corpus.Instance, answers []Answer) *Finding {
	f := &Finding{Instance: in}
	for _, a := range answers {
		if a.Ours {
			f.Ours = append(f.Ours, a.Result)
		} else {
			f.Others = append(f.Others, a.Result)
		}
	}
	for _, a := range answers {
		for _, ours := range f.Ours {
			if !a.Ours && beats(a.Result, ours) {
				f.Losses = append(f.Losses, Loss{Instance: in.Name, Ours: ours, Theirs: a.Result, Broken: broken(in.Problem, a.Outcome)})
			}
		}
	}
	return f
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
