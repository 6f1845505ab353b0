package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/benchmarks/internal/mix"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/consolidation"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/corpus"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/karpenter"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/planner"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/report"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// reference is the planner with which all other planners are compared.
const reference = "plimsoll"

// reporter writes reports, as Markdown.
type reporter struct {
	*settings
	stdout, stderr io.Writer
}

// reports are the values of -report, in the order in which "all" writes them, with the function
// that writes each and returns the promises that are not kept.
func reports() []struct {
	name  string
	write func(reporter, context.Context) ([]string, error)
} {
	return []struct {
		name  string
		write func(reporter, context.Context) ([]string, error)
	}{
		{"gaps", reporter.gaps}, {"speed", reporter.speed}, {"growth", reporter.growth}, {"consolidation", reporter.consolidation},
	}
}

// write writes the reports that were asked for.
func (r reporter) write(ctx context.Context) error {
	var faults []error
	for _, one := range reports() {
		if !slices.Contains(r.reports, one.name) {
			continue
		}
		broken, err := one.write(r, ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		faults = append(faults, err)
		if len(broken) > 0 {
			fmt.Fprintf(r.stdout, "\nNot as promised:\n\n- %s\n", strings.Join(broken, "\n- "))
			if r.strict {
				faults = append(faults, fmt.Errorf("%d promises are not kept, first: %s", len(broken), broken[0]))
			}
		}
	}
	return errors.Join(faults...)
}

// publish writes a section to the output, and into the file that shows it.
func (r reporter) publish(section, text string) error {
	if _, err := fmt.Fprintf(r.stdout, "\n%s\n", strings.Trim(text, "\n")); err != nil {
		return err
	}
	if r.readme == "" {
		return nil
	}
	return report.Put(r.readme, section, text)
}

// sizes are the numbers of pods that were asked for, or these.
func (s *settings) sizes(usual ...int) []int {
	if len(s.pods) > 0 {
		return s.pods
	}
	return usual
}

// instances are the problems to solve, each corpus in each market that it fits.
func (r reporter) instances() ([]corpus.Instance, error) {
	s := r.settings
	if len(s.files) > 0 {
		in, err := load(s.files, s.markets, r.stderr)
		return []corpus.Instance{in}, err
	}
	if s.mixes > 0 {
		draw := mix.Random()
		return lo.Times(s.mixes, func(i int) corpus.Instance {
			m := draw(s.seed + uint64(i))
			return corpus.Instance{Name: fmt.Sprintf("%s/mix/%d", strings.ReplaceAll(m.Market, " ", "/"), m.Seed), Corpus: "mixes", TopologyTerms: m.HasTopologyTerms, Problem: m.Problem}
		}), nil
	}
	var out []corpus.Instance
	for _, c := range s.corpora {
		for _, m := range s.markets {
			if !c.Fits(m) {
				continue
			}
			for _, way := range s.ways {
				for _, n := range s.sizes(1_000) {
					in, err := c.Instance(m, way, n, s.seed)
					if err != nil {
						return nil, err
					}
					out = append(out, in)
				}
			}
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no corpus fits any market")
	}
	return out, nil
}

// quick reports whether a planner runs on problems of that many pods, because some take too long on large ones.
func (s *settings) quick(p peer.Peer, pods int) bool {
	return pods <= s.slow || p.Name() != peer.Karpenter && p.Name() != "plimsoll thorough"
}

// gaps writes the decisions of every planner on every instance, their gaps above the bound, and
// the instances on which another planner is cheaper. A planner that cannot express an instance is
// named and left out; a wrong outcome is an error.
func (r reporter) gaps(ctx context.Context) ([]string, error) {
	instances, err := r.instances()
	if err != nil {
		return nil, err
	}
	var findings []*report.Finding
	var faults []error
	for i, in := range instances {
		f := &report.Finding{Instance: in}
		var outcomes []peer.Outcome
		for _, p := range r.peers {
			if !r.quick(p, len(in.Problem.Pods)) {
				continue
			}
			result, outcome, err := peer.Measure(ctx, p, in.Name, in.Problem, r.measure)
			var unsupported *peer.UnsupportedError
			switch {
			case ctx.Err() != nil:
				return nil, ctx.Err()
			case errors.As(err, &unsupported):
				fmt.Fprintln(r.stderr, "left out:", err)
			case err != nil:
				faults = append(faults, err)
			default:
				f.Results, outcomes = append(f.Results, result), append(outcomes, outcome)
				faults = append(faults, r.keep(in, p, outcome))
			}
		}
		f.Compare(outcomes)
		findings = append(findings, f)
		_, err := io.WriteString(r.stdout, report.Table(report.Comparison(f.Results, reference), f.Results, i == 0))
		faults = append(faults, err)
	}
	summary, broken := report.Summary(findings)
	faults = append(faults, r.publish("gaps", summary), r.publish("corpora", report.Corpora(findings)))
	return broken, errors.Join(faults...)
}

// efforts are the library at the efforts that are asked about time.
func (s *settings) efforts() []peer.Peer {
	return slices.DeleteFunc(slices.Clone(s.peers), func(p peer.Peer) bool {
		mine, ok := p.(planner.Peer)
		return !ok || mine.Title == "plimsoll thorough"
	})
}

// speed compares time and memory with Karpenter's on its own mix.
func (r reporter) speed(ctx context.Context) ([]string, error) {
	var all []peer.Result
	for _, n := range r.sizes(1_000, 5_000, 20_000) {
		in, err := corpus.KarpenterMix(n, r.seed)
		if err != nil {
			return nil, err
		}
		fmt.Fprintln(r.stderr, "speed:", in.Name)
		theirs := slices.DeleteFunc(slices.Clone(r.peers), func(p peer.Peer) bool { _, ok := p.(karpenter.Peer); return !ok })
		for _, p := range slices.Concat(theirs, r.efforts()) {
			o := r.measure
			o.Median = true
			if o.Repeat = max(o.Repeat, 5); p.Name() == peer.Karpenter {
				o.Repeat = 1
			}
			result, _, err := peer.Measure(ctx, p, in.Name, in.Problem, o)
			if err != nil {
				return nil, err
			}
			all = append(all, result)
		}
	}
	err := r.publish("speed", report.Table(report.Speed(all, peer.Karpenter), all, true))
	return report.Slow(all, peer.Karpenter), err
}

// growth measures how the time grows with the numbers of everything.
func (r reporter) growth(ctx context.Context) ([]string, error) {
	m, err := r.ec2("growth")
	if err != nil {
		return nil, err
	}
	divisor := 1
	if r.small {
		divisor = 50
	}
	o := r.measure
	o.Repeat, o.Median = max(o.Repeat, 3), true
	var all []report.Sample
	for _, a := range report.Axes(m, r.seed, divisor) {
		fmt.Fprintln(r.stderr, "growth:", a.Name)
		for _, v := range a.Values {
			problem := a.Problem(v)
			for _, p := range r.efforts() {
				result, _, err := peer.Measure(ctx, p, a.Name, problem, o)
				if err != nil {
					return nil, err
				}
				all = append(all, report.Sample{Result: result, Value: v})
			}
		}
	}
	return report.Rising(all), r.publish("growth", report.Growth(all))
}

// ec2 is the market that a report needs.
func (s *settings) ec2(name string) (corpus.Market, error) {
	i := slices.IndexFunc(s.markets, func(m corpus.Market) bool { return m.Name == "ec2" })
	if i < 0 {
		return corpus.Market{}, fmt.Errorf("-report %s needs the market ec2", name)
	}
	return s.markets[i], nil
}

// tightest is the largest number of nodes for which clusters are also consolidated with a budget of a tenth of
// their nodes, because Karpenter takes many more rounds then.
const tightest = 100

// consolidation compares the savings on clusters that have lost pods, and the numbers of pods
// evicted for them.
func (r reporter) consolidation(ctx context.Context) ([]string, error) {
	m, err := r.ec2("consolidation")
	if err != nil {
		return nil, err
	}
	efforts := map[string]scheduling.Effort{}
	for _, p := range r.peers {
		if mine, ok := p.(planner.Peer); ok {
			efforts[mine.Title] = mine.Policy.Effort
		}
	}
	var matches []consolidation.Match
	var broken []string
	for _, budget := range []string{"100%", "10%"} {
		for _, n := range r.nodes {
			if budget != "100%" && n > tightest {
				continue
			}
			for seed := r.seed; seed < r.seed+uint64(max(r.clusters, 1)); seed++ {
				fmt.Fprintf(r.stderr, "consolidation: %d nodes, budget %s, seed %d\n", n, budget, seed)
				match, err := consolidation.Play(ctx, corpus.Clusters{Market: m, Budget: budget}, n, seed, efforts)
				if err != nil {
					return nil, err
				}
				matches = append(matches, match)
				for name := range efforts {
					broken = append(broken, consolidation.Broken(match, name)...)
				}
			}
		}
	}
	slices.Sort(broken)
	return broken, r.publish("consolidation", consolidation.Table(matches))
}
