package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/autoscaler"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/corpus"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/karpenter"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/packing"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/planner"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/week"
)

// settings are the values of the flags.
type settings struct {
	corpora []corpus.Corpus
	markets []corpus.Market
	ways    []string
	pods    []int
	peers   []peer.Peer
	seed    uint64
	measure peer.Options
	strict  bool
	random  int
	mixes   int
	// expanders is the number of clusters of each size on which expanders are compared; 0 compares none.
	expanders int
	// week is the number of seeds of a simulated week, days is its length, contenders are the autoscalers of it, and runs is
	// the file of its results.
	week       int
	days       int
	contenders []week.Contender
	runs       string
	wishes     bool
	list       bool
	// reports are to be written, into the file readme, too.
	reports []string
	readme  string
	small   bool
	// nodes are the sizes of the clusters of the report of consolidation, clusters is the number
	// of clusters of each size.
	nodes    []int
	clusters int
	// slow is the largest number of pods for which the report of gaps runs Karpenter and the thorough effort.
	slow int
	// files are the manifests to plan for in place of the corpora, plans is where plans go.
	files []string
	plans string
}

// parse reads the command line.
func parse(args []string, stderr io.Writer) (*settings, error) {
	s := &settings{}
	flags := flag.NewFlagSet("peers", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Func("f", "plan for the pods in this `FILE` or directory of manifests of one cluster instead of the corpora, in the one market of -markets; may be repeated", func(name string) error {
		s.files = append(s.files, name)
		return nil
	})
	flags.StringVar(&s.plans, "plans", "", "with -report gaps: write what each planner decided into this `directory`, as a plan: INSTANCE/PLANNER.json")
	corpora := flags.String("corpora", "", "`names` of corpora, with commas between them (default all; see -list)")
	ways := flags.String("buy", "on-demand,spot,mixed", "how machines are bought: any of on-demand, spot, mixed")
	pods := flags.String("pods", "", "`numbers` of pods (default what each report needs)")
	peers := flags.String("peers", "", "`names` of planners (default all; see -list)")
	within := flags.String("markets", "", "`names` of markets, with commas between them (default all; see -list)")
	region := flags.String("region", "us-east-1", "EC2 `region` whose catalog is used")
	kwok := flags.String("kwok", "", "use the catalog in this `file` for Karpenter's KWOK provider, in place of the one that it brings")
	workers := flags.Int("workers", runtime.NumCPU(), "how many goroutines Karpenter may use for one pod")
	flags.Uint64Var(&s.seed, "seed", 20261121, "`seed` of all corpora")
	flags.DurationVar(&s.measure.Timeout, "timeout", 10*time.Minute, "end a planner's run after this time; 0 never")
	flags.IntVar(&s.measure.Repeat, "repeat", 1, "solve so many times and show the fastest")
	flags.BoolVar(&s.strict, "strict", false, "fail if a promise is not kept, such as that no other planner places more pods, or as many for less")
	flags.IntVar(&s.random, "random", 0, "instead of the corpora, compare with Karpenter on this `number` of small random problems, from -seed on")
	flags.IntVar(&s.mixes, "mixes", 0, "with -report gaps: instead of the corpora, this `number` of random mixes that nothing was tuned for, from -seed on")
	flags.IntVar(&s.expanders, "expanders", 0, "instead of the corpora, compare expanders of Cluster Autoscaler on this `number` of clusters with 4, 12 and 50 node groups, from -seed on")
	flags.IntVar(&s.week, "week", 0, "instead of the corpora, have autoscalers run a simulated week with this `number` of seeds, from -seed on")
	flags.IntVar(&s.days, "days", 7, "with -week: its length in `days`")
	autoscalers := flags.String("autoscalers", "", "with -week: `names` of autoscalers, with commas between them (see -list; default all but variants of our controller)")
	flags.StringVar(&s.runs, "runs", "", "with -week: add the result of each run to this `file`, and do not repeat the runs that are in it")
	flags.BoolVar(&s.wishes, "preferences", false, "with -random: grant preferences, and compare no prices")
	names := flags.String("report", "gaps", "write these `reports`: any of gaps, speed, growth, consolidation, or all")
	flags.StringVar(&s.readme, "readme", "", "with -report, -random, -expanders or -week: put the tables into this `file`, too")
	flags.IntVar(&s.slow, "slow", 1_000, "with -report gaps: leave Karpenter and the thorough effort out above this `number` of pods")
	nodes := flags.String("nodes", "40,100,300", "with -report consolidation: `numbers` of nodes of the clusters")
	flags.IntVar(&s.clusters, "clusters", 3, "with -report consolidation: how many clusters of each size, from -seed on")
	flags.BoolVar(&s.small, "quick", false, "with -report growth: a fiftieth of the pods")
	flags.BoolVar(&s.list, "list", false, "list corpora, markets, planners and autoscalers, and stop")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	var faults [8]error
	s.corpora, faults[0] = choose("corpora", *corpora, corpus.All(), func(c corpus.Corpus) string { return c.Name })
	s.peers, faults[1] = choose("peers", *peers, planners(*workers), peer.Peer.Name)
	s.pods, faults[2] = numbers("pods", *pods)
	s.nodes, faults[6] = numbers("nodes", *nodes)
	s.contenders = week.Contenders()
	if *autoscalers != "" {
		s.contenders, faults[7] = choose("autoscalers", *autoscalers, append(week.Contenders(), week.Variants()...), func(c week.Contender) string { return c.Name })
	}
	s.ways, faults[3] = choose("buy", *ways, []string{corpus.OnDemand, corpus.Spot, corpus.Mixed}, func(way string) string { return way })
	var known []string
	for _, r := range reports() {
		known = append(known, r.name)
	}
	if *names == "all" {
		*names = ""
	}
	s.reports, faults[5] = choose("report", *names, known, func(name string) string { return name })
	if all, err := markets(*region, *kwok); err != nil {
		faults[4] = err
	} else {
		s.markets, faults[4] = choose("markets", *within, all, func(m corpus.Market) string { return m.Name })
	}
	return s, errors.Join(faults[:]...)
}

// planners are all that take part, the reference among them.
func planners(workers int) []peer.Peer {
	all := []peer.Peer{karpenter.Peer{Workers: workers}}
	for _, p := range planner.All() {
		all = append(all, p)
	}
	all = append(all, packing.Peer{}, packing.Peer{BestFit: true})
	return append(all, autoscaler.Peer{Expander: autoscaler.LeastWaste}, autoscaler.Peer{Expander: autoscaler.Price})
}

// choose picks from all by name; everything where no name is given.
func choose[T any](flagName, names string, all []T, name func(T) string) ([]T, error) {
	if names == "" {
		return all, nil
	}
	var out []T
	for want := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(all, func(v T) bool { return name(v) == want })
		if i < 0 {
			var known []string
			for _, v := range all {
				known = append(known, name(v))
			}
			return nil, fmt.Errorf("-%s: no %q; there are %s", flagName, want, strings.Join(known, ", "))
		}
		out = append(out, all[i])
	}
	return out, nil
}

func numbers(what, text string) ([]int, error) {
	if text == "" {
		return nil, nil
	}
	var out []int
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-%[1]s: %[2]q is no number of %[1]s", what, word)
		}
		out = append(out, n)
	}
	return out, nil
}

func markets(region, kwok string) ([]corpus.Market, error) {
	synthetic, err := corpus.Synthetic()
	if err != nil {
		return nil, err
	}
	cloud, err := corpus.EC2(region)
	if err != nil {
		return nil, fmt.Errorf("-region: %w", err)
	}
	fake, err := kwokMarket(kwok)
	if err != nil {
		return nil, fmt.Errorf("-kwok: %w", err)
	}
	return []corpus.Market{synthetic, cloud, fake}, nil
}

// kwokMarket is the catalog in the file, or the one that Karpenter's module brings.
func kwokMarket(file string) (corpus.Market, error) {
	if file == "" {
		r, err := karpenter.KWOK()
		if err != nil {
			return corpus.Market{}, err
		}
		return corpus.KWOK(r)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return corpus.Market{}, err
	}
	return corpus.KWOK(bytes.NewReader(text))
}

// describe lists the names of corpora, markets, planners and autoscalers that flags accept.
func (s *settings) describe(w io.Writer) error {
	var b strings.Builder
	b.WriteString("corpora:\n")
	for _, c := range corpus.All() {
		fmt.Fprintf(&b, "  %-20s %s\n", c.Name, c.About)
	}
	b.WriteString("markets:\n  karpenter\n  ec2\n  kwok\nplanners:\n")
	for _, p := range planners(1) {
		fmt.Fprintf(&b, "  %s\n", p.Name())
	}
	b.WriteString("autoscalers:\n")
	for _, c := range append(week.Contenders(), week.Variants()...) {
		fmt.Fprintf(&b, "  %s\n", c.Name)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
