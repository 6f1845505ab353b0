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
	for code := range duel.Broken(p, o, scheduling.Policy{}) {
		out = append(out, string(code))
	}
	slices.Sort(out)
	return out
}

// Gap is the share by which a price is above its bound: 0.01 is one per cent. The price
// and the machines behind it have passed the second opinion, and so has the bound's proof.
func Gap(r peer.Result) float64 {
	if r.Bound <= 0 {
		return 0
	}
	return float64(r.Price-r.Bound) / float64(r.Bound)
}

// least is the number of pods from which limits hold: on a few machines, one that is not
// full is a large share.
const least = 1_000

// limit is how large gaps may be for one effort on one kind of instance; 0 is no limit.
type limit struct {
	effort      string
	tied        bool
	max, median float64
}

// limits are what the library promises.
func limits() []limit {
	return []limit{
		{effort: "plimsoll fast", max: 0.03},
		{effort: "plimsoll", max: 0.01, median: 0.003},
		{effort: "plimsoll thorough"},
		{effort: "plimsoll fast", tied: true},
		{effort: "plimsoll", tied: true, max: 0.03},
		{effort: "plimsoll thorough", tied: true},
	}
}

// spread is the gaps of one effort on one kind of instance.
type spread struct {
	limit
	n           int
	largest     float64
	worst       string // the instance of the largest
	middle      float64
	unlikeNoted int // instances whose reported gap is another than the checked one
	over        []string
}

// measure gathers the gaps that a limit is about.
func (l limit) measure(findings []*Finding) spread {
	s := spread{limit: l}
	var all []float64
	for _, f := range findings {
		if f.Instance.Tied != l.tied || len(f.Instance.Problem.Pods) < least {
			continue
		}
		for _, r := range f.Ours {
			if r.Peer != l.effort {
				continue
			}
			gap := Gap(r)
			if all = append(all, gap); gap > s.largest || s.worst == "" {
				s.largest, s.worst = gap, r.Instance
			}
			if l.max > 0 && gap > l.max {
				s.over = append(s.over, r.Instance)
			}
			if differ(gap, r.Gap) {
				s.unlikeNoted++
			}
		}
	}
	slices.Sort(all)
	if s.n = len(all); s.n > 0 {
		s.middle = (all[(s.n-1)/2] + all[s.n/2]) / 2
	}
	return s
}

// differ is whether two gaps are not the same figure, rounding aside.
func differ(a, b float64) bool { return a-b > 1e-9 || b-a > 1e-9 }

// faults say which promises are broken.
func (s spread) faults() []string {
	var out []string
	kind := map[bool]string{false: "without ties", true: "with ties"}[s.tied]
	if len(s.over) > 0 {
		out = append(out, fmt.Sprintf("%s: %d of %d instances %s are more than %s above their bound, the worst, %s, by %s",
			s.effort, len(s.over), s.n, kind, percent(s.max), s.worst, percent(s.largest)))
	}
	if s.median > 0 && s.middle > s.median {
		out = append(out, fmt.Sprintf("%s: half of the instances %s are more than %s above their bound, which is over %s", s.effort, kind, percent(s.middle), percent(s.median)))
	}
	if s.unlikeNoted > 0 {
		out = append(out, fmt.Sprintf("%s: %d gaps %s are not what the plan says", s.effort, s.unlikeNoted, kind))
	}
	return out
}

func percent(x float64) string { return fmt.Sprintf("%.2f %%", 100*x) }
