package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/corpus"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/duel"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Finding is the results of all planners on one instance.
type Finding struct {
	Instance corpus.Instance
	Results  []peer.Result
	// Losses name the results in which another planner is better than ours at some effort, AgainstRules
	// those in which its plan breaks a rule of kube-scheduler or of NodePools and so does not count.
	Losses, AgainstRules []string
}

// ours reports whether a result is that of the library at one of its efforts.
func ours(r peer.Result) bool { return strings.HasPrefix(r.Peer, "plimsoll") }

// freely is Plimsoll where kube-scheduler places the pods: it pays for a price that comes true.
const freely = "plimsoll free"

// beats is whether a places more pods than b, or as many for less.
func beats(a, b peer.Result) bool {
	return a.Placed > b.Placed || a.Placed == b.Placed && a.Price < b.Price
}

// Compare finds the losses; outcomes are the machines behind the results.
func (f *Finding) Compare(outcomes []peer.Outcome) {
	for i, theirs := range f.Results {
		for _, r := range f.Results {
			if ours(theirs) || !ours(r) || r.Peer == freely || !beats(theirs, r) {
				continue
			}
			text := fmt.Sprintf("%s: %s places %d for %s, %s %d for %s", f.Instance.Name, theirs.Peer, theirs.Placed, theirs.Price, r.Peer, r.Placed, r.Price)
			if codes := broken(f.Instance.Problem, outcomes[i]); len(codes) > 0 {
				f.AgainstRules = append(f.AgainstRules, text+", against the rules ("+strings.Join(codes, ", ")+")")
			} else {
				f.Losses = append(f.Losses, text)
			}
		}
	}
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

// differ is whether two gaps are not the same figure, rounding aside.
func differ(a, b float64) bool { return a-b > 1e-9 || b-a > 1e-9 }

// leastPods is the number of pods from which limits hold: on a few machines, one that is not
// full is a large share.
const leastPods = 1_000

// limit is how large gaps may be for one effort on one kind of instance; 0 is no limit.
type limit struct {
	effort      string
	terms       bool
	max, median float64
}

func (l limit) kind() string {
	if l.terms {
		return "with topology terms"
	}
	return "without topology terms"
}

// limits are the library's promises about gaps.
func limits() []limit {
	return []limit{
		{effort: "plimsoll fast", max: 0.03},
		{effort: "plimsoll", max: 0.01, median: 0.003},
		{effort: "plimsoll thorough"},
		{effort: "plimsoll fast", terms: true},
		{effort: "plimsoll", terms: true, max: 0.03},
		{effort: "plimsoll thorough", terms: true},
	}
}

// measure returns the table line of a limit, with the gaps to which it applies, and the promises
// that they break; "" where there are none.
func (l limit) measure(findings []*Finding) (line string, faults []string) {
	var about []peer.Result
	for _, f := range findings {
		if r, ok := find(f.Results, f.Instance.Name, l.effort); ok && f.Instance.TopologyTerms == l.terms && len(f.Instance.Problem.Pods) >= leastPods {
			about = append(about, r)
		}
	}
	if len(about) == 0 {
		return "", nil
	}
	over, unlike := 0, 0
	gaps := make([]float64, len(about))
	for i, r := range about {
		gaps[i] = Gap(r)
		if l.max > 0 && gaps[i] > l.max {
			over++
		}
		if differ(gaps[i], r.Gap) {
			unlike++
		}
	}
	worst := slices.MaxFunc(about, func(a, b peer.Result) int { return cmp.Compare(Gap(a), Gap(b)) })
	slices.Sort(gaps)
	middle := median(gaps)
	if over > 0 {
		faults = append(faults, fmt.Sprintf("%s: %d of %d instances %s are more than %s above their bound, the worst, %s, by %s",
			l.effort, over, len(about), l.kind(), percent(l.max), worst.Instance, percent(Gap(worst))))
	}
	if l.median > 0 && middle > l.median {
		faults = append(faults, fmt.Sprintf("%s: half of the instances %s are more than %s above their bound, which is over %s", l.effort, l.kind(), percent(middle), percent(l.median)))
	}
	if unlike > 0 {
		faults = append(faults, fmt.Sprintf("%s: %d gaps %s are not what the plan says", l.effort, unlike, l.kind()))
	}
	allowed := func(x float64) string { return Number(100*x, 2, " %") }
	return Line(l.effort+", "+l.kind(), len(about), percent(middle), allowed(l.median), percent(Gap(worst)), allowed(l.max), worst.Instance), faults
}

// median of sorted numbers; 0 where there is none.
func median(sorted []float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// Summary is the spread of the gaps, and every loss; it also returns the faults for which a strict
// run fails.
func Summary(findings []*Finding) (text string, faults []string) {
	var b strings.Builder
	b.WriteString(Head("gaps from 1,000 pods on", "instances:", "median:", "allowed:", "largest:", "allowed:", "where"))
	for _, l := range limits() {
		line, broken := l.measure(findings)
		b.WriteString(line)
		faults = append(faults, broken...)
	}
	b.WriteString(times(findings))
	var lost, foul, dearer []string
	for _, f := range findings {
		lost, foul = append(lost, f.Losses...), append(foul, f.AgainstRules...)
		efforts := slices.DeleteFunc(slices.Clone(f.Results), func(r peer.Result) bool { return !ours(r) || r.Peer == freely })
		for i := 1; i < len(efforts); i++ {
			if less, more := efforts[i-1], efforts[i]; beats(less, more) {
				dearer = append(dearer, fmt.Sprintf("%s: %s costs %s, %s %s", f.Instance.Name, more.Peer, more.Price, less.Peer, less.Price))
			}
		}
	}
	for _, part := range []struct {
		title string
		lines []string
	}{
		{"Another planner places more pods, or as many for less", lost}, {"Another planner does so against the rules", foul},
		{"More effort costs more", dearer}, {"Gaps over what is allowed", faults},
	} {
		fmt.Fprintf(&b, "\n%s: %d\n", part.title, len(part.lines))
		if len(part.lines) > 0 {
			fmt.Fprintf(&b, "\n- %s\n", strings.Join(part.lines, "\n- "))
		}
	}
	return b.String(), append(lost, faults...)
}

// times says how many times as much CPU time Karpenter took as each of the others.
func times(findings []*Finding) string {
	took := map[string][]float64{}
	var order []string
	for _, f := range findings {
		theirs, ok := find(f.Results, f.Instance.Name, peer.Karpenter)
		for _, r := range f.Results {
			if !ok || r.Peer == theirs.Peer || r.CPU == 0 {
				continue
			}
			name := r.Peer + ", " + limit{terms: f.Instance.TopologyTerms}.kind()
			if took[name] == nil {
				order = append(order, name)
			}
			took[name] = append(took[name], quotient(theirs.CPU.Seconds(), r.CPU.Seconds()))
		}
	}
	if len(order) == 0 {
		return ""
	}
	text := "\n" + Head("CPU time of Karpenter ÷ that of", "instances:", "median:", "least:", "most:")
	for _, name := range order {
		list := took[name]
		slices.Sort(list)
		text += Line(name, len(list), Number(median(list), 1, " ×"), Number(list[0], 1, " ×"), Number(list[len(list)-1], 1, " ×"))
	}
	return text
}

// share is how far one planner is above the bound on the instances of one corpus: the
// quotients of price and bound where it places as many pods as any, sorted, of all that it
// was asked about.
type share struct {
	over  []float64
	asked int
}

// shares are the sums over instances of each planner on each corpus, in order of appearance.
func shares(findings []*Finding) (corpora, planners []string, of map[[2]string]*share) {
	of = map[[2]string]*share{}
	for _, f := range findings {
		name := f.Instance.Corpus
		if !slices.Contains(corpora, name) {
			corpora = append(corpora, name)
		}
		most, bound := 0, offerings.Price(0) // the highest bound that is proven for as many pods
		for _, r := range f.Results {
			most = max(most, r.Placed)
		}
		for _, r := range f.Results {
			if r.Placed == most {
				bound = max(bound, r.Bound)
			}
		}
		for _, r := range f.Results {
			if !slices.Contains(planners, r.Peer) {
				planners = append(planners, r.Peer)
			}
			key := [2]string{name, r.Peer}
			if of[key] == nil {
				of[key] = &share{}
			}
			s := of[key]
			s.asked++
			if r.Placed == most && bound > 0 {
				s.over = append(s.over, r.Price.USD()/bound.USD())
				slices.Sort(s.over)
			}
		}
	}
	own, others := lo.FilterReject(planners, func(p string, _ int) bool { return ours(peer.Result{Peer: p}) })
	planners = slices.Concat(own, others)
	return corpora, planners, of
}

// Corpora is a table of price ÷ the best bound that is proven, for each corpus and planner: the
// median over the instances of the corpus on which the planner places as many pods as any.
func Corpora(findings []*Finding) string {
	corpora, planners, of := shares(findings)
	columns := []string{"corpus"}
	for _, p := range planners {
		columns = append(columns, p+":")
	}
	text := Head(columns...)
	for _, c := range corpora {
		cells := []any{c}
		for _, p := range planners {
			s := of[[2]string{c, p}]
			switch {
			case s == nil:
				cells = append(cells, "–")
			case len(s.over) == 0:
				cells = append(cells, "fewer pods")
			case len(s.over) < s.asked:
				cells = append(cells, fmt.Sprintf("%.3f (on %d of %d)", median(s.over), len(s.over), s.asked))
			default:
				cells = append(cells, Number(median(s.over), 3, ""))
			}
		}
		text += Line(cells...)
	}
	return text
}
