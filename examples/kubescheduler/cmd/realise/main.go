// Command realise prints the prices of plans once the real kube-scheduler has bound the
// pods: it plans, lets kube-scheduler bind, and plans again until every pod runs.
//
//	go run ./cmd/realise                       # the mixes of package realised
//	go run ./cmd/realise -mix services -seeds 3
//	go run ./cmd/realise -f cluster.yaml -catalog ec2/eu-west-1
//	go run ./cmd/realise -f cluster.yaml -plan theirs.json   # a plan made by anyone, beside our own
//	go run ./cmd/realise -consolidate -placement free -placement pinned   # steps that empty nodes
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/examples/kubescheduler/realised"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

func main() {
	err := run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "realise:", err)
		os.Exit(1)
	}
}

// command holds the values of the flags.
type command struct {
	stdin  io.Reader
	stderr io.Writer

	files   []string
	catalog string
	mixes   []string
	seeds   int
	orders  int
	batches int
	policy  scheduling.Policy
	places  []scheduling.PlacementPolicy
	plans   []string
	asJSON  bool
	write   bool
	// consolidate carries out plans of disruption instead.
	consolidate bool
}

// run is the command without its process.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	c := command{stdin: stdin, stderr: stderr}
	if err := c.parse(args); err != nil {
		return err
	}
	if c.consolidate {
		return c.disrupt(ctx, stdout)
	}
	problems, err := c.problems()
	switch {
	case err != nil:
		return err
	case c.write && (len(c.files) > 0 || len(problems) != 1):
		return errors.New("-manifests: want one -mix and -seeds 1")
	case len(c.plans) > 0 && len(problems) != 1:
		return errors.New("-plan: want -f, or one -mix and -seeds 1")
	case c.write:
		return realised.WriteManifests(stdout, problems[0].value)
	}
	var results []realised.Result
	for _, p := range problems {
		more, err := c.realise(ctx, p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		results = append(results, more...)
	}
	if c.asJSON {
		return writeJSON(stdout, results)
	}
	return realised.Table(stdout, results)
}

func writeJSON(out io.Writer, results any) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(results)
}

func (c *command) parse(args []string) error {
	flags := flag.NewFlagSet("realise", flag.ContinueOnError)
	flags.SetOutput(c.stderr)
	names, kinds := mixes(), clusterKinds()
	effort := "default"
	flags.Func("f", "`FILE`, directory or - with manifests of one cluster; may be repeated; without it mixes are made up", func(s string) error {
		c.files = append(c.files, s)
		return nil
	})
	flags.StringVar(&c.catalog, "catalog", "ec2/us-east-1", "what is on sale: ec2/`REGION`, or kwok:FILE with instance types of Karpenter's KWOK provider")
	flags.Func("mix", "make up this mix: `NAME` is "+strings.Join(names, ", ")+"; with -consolidate it is a kind of cluster: "+strings.Join(kinds, ", ")+"; may be repeated; without it all", func(s string) error {
		c.mixes = append(c.mixes, s)
		return nil
	})
	flags.IntVar(&c.seeds, "seeds", 1, "draw each mix with so many seeds")
	flags.IntVar(&c.orders, "orders", 3, "try so many orders of pods and machines: the first has pods in the order of the input")
	flags.IntVar(&c.batches, "batches", 6, "in how many batches machines join, where they do not join at once; 1 leaves that way out")
	flags.Func("placement", "plan for this `PLACEMENT`: pinned, free or nominated; may be repeated; free if not set", func(s string) error {
		for _, p := range placements() {
			if strings.EqualFold(s, string(p)) {
				c.places = append(c.places, p)
				return nil
			}
		}
		return errors.New("want pinned, free or nominated")
	})
	flags.Func("plan", "carry out the plan in this `FILE`, too, whoever made it; what is missing after it is planned for as for the first -placement; may be repeated", func(s string) error {
		c.plans = append(c.plans, s)
		return nil
	})
	flags.StringVar(&effort, "effort", effort, "how hard to search: fast, default, thorough or a number")
	flags.BoolVar(&c.consolidate, "consolidate", false, "carry out the steps that remove and replace nodes of clusters instead; machines of a step join at once")
	flags.BoolVar(&c.asJSON, "json", false, "print every run, as JSON")
	flags.BoolVar(&c.write, "manifests", false, "print the one -mix as manifests, for -f, and stop")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("argument %q: want flags only", flags.Arg(0))
	}
	for _, n := range []struct {
		name  string
		value int
	}{{"seeds", c.seeds}, {"orders", c.orders}, {"batches", c.batches}} {
		if n.value < 1 {
			return fmt.Errorf("-%s %d: want a number from 1", n.name, n.value)
		}
	}
	if c.consolidate {
		names = kinds
	}
	for _, name := range c.mixes {
		if !slices.Contains(names, name) {
			return fmt.Errorf("-mix %s: want one of %s", name, strings.Join(names, ", "))
		}
	}
	if c.consolidate && (c.write || len(c.plans) > 0) {
		return errors.New("-consolidate: goes neither with -manifests nor with -plan")
	}
	if len(c.places) == 0 {
		c.places = []scheduling.PlacementPolicy{scheduling.PlacementFree}
	}
	if len(c.files) > 0 && len(c.mixes) > 0 {
		return errors.New("-f and -mix: want one of them")
	}
	var err error
	c.policy.Effort, err = scheduling.ParseEffort(effort)
	return err
}

// input is something to plan for, with a name.
type input[T any] struct {
	name  string
	value T
}

// problems returns the problems that the flags name.
func (c *command) problems() ([]input[*scheduling.Problem], error) {
	return inputs(c, func(s *manifest.Snapshot) *scheduling.Problem { return &s.Problem }, mixes(), func(i int, seed uint64, catalog *instancetypes.Catalog) *scheduling.Problem {
		return realised.Mixes()[i].Problem(seed, catalog)
	})
}

// mixes are the names of the mixes that can be made up.
func mixes() (names []string) {
	for _, m := range realised.Mixes() {
		names = append(names, m.Name)
	}
	return names
}

// inputs returns the inputs that the flags name: one read from all files, or without files one drawn for
// each named kind and seed.
func inputs[T any](c *command, read func(*manifest.Snapshot) T, kinds []string, draw func(kind int, seed uint64, catalog *instancetypes.Catalog) T) ([]input[T], error) {
	catalog, err := c.sold()
	if err != nil {
		return nil, fmt.Errorf("-catalog %q: %w", c.catalog, err)
	}
	if len(c.files) > 0 {
		s, err := c.load(catalog)
		if err != nil {
			return nil, err
		}
		return []input[T]{{strings.Join(c.files, " "), read(s)}}, nil
	}
	var out []input[T]
	for i, kind := range kinds {
		if len(c.mixes) > 0 && !slices.Contains(c.mixes, kind) {
			continue
		}
		for seed := range uint64(c.seeds) { //nolint:gosec // it is positive
			out = append(out, input[T]{fmt.Sprintf("%s/%d", kind, seed+1), draw(i, seed+1, catalog)})
		}
	}
	return out, nil
}

// sold returns the catalog that -catalog names.
func (c *command) sold() (*instancetypes.Catalog, error) {
	if region, ok := strings.CutPrefix(c.catalog, "ec2/"); ok {
		return ec2.Catalog(region)
	}
	name, ok := strings.CutPrefix(c.catalog, "kwok:")
	if !ok {
		return nil, errors.New("want ec2/REGION or kwok:FILE")
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	return instancetypes.ReadKWOK(file)
}

// load reads manifests, and writes the loader's warnings on stderr.
func (c *command) load(catalog *instancetypes.Catalog) (*manifest.Snapshot, error) {
	loader := manifest.Loader{Stdin: c.stdin}
	snapshot, err := loader.Load(c.files...)
	if err != nil {
		return nil, err
	}
	snapshot.AssumeNodePools()
	if len(snapshot.Problem.NodePools) == 0 {
		snapshot.Problem.NodePools = manifest.DefaultNodePools(catalog, snapshot.Problem.Pods)
	}
	if err := snapshot.SetCatalog(catalog); err != nil {
		return nil, err
	}
	for _, w := range snapshot.Warnings {
		fmt.Fprintf(c.stderr, "warning: %s: %s\n", w.Object, w.Message)
	}
	return snapshot, nil
}

// realise plans for a problem, and carries our plans and the given ones out in all ways.
func (c *command) realise(ctx context.Context, p input[*scheduling.Problem]) ([]realised.Result, error) {
	var results []realised.Result
	carryOut := func(plan string, loop *realised.Loop, ways []realised.Way) error {
		for _, way := range ways {
			for order := range uint64(c.orders) { //nolint:gosec // it is positive
				way.Order = order
				outcome, err := loop.Run(ctx, way)
				if err != nil {
					return err
				}
				results = append(results, realised.Result{Problem: p.name, Plan: plan, Way: way, Outcome: *outcome})
			}
		}
		return nil
	}
	for _, place := range c.places {
		loop, err := realised.NewLoop(ctx, c.planner(place), p.value)
		if err != nil {
			return nil, err
		}
		if err := carryOut(strings.ToLower(string(place)), loop, c.ways(place)); err != nil {
			return nil, err
		}
	}
	for _, name := range c.plans {
		plan, err := readPlan(name)
		if err != nil {
			return nil, err
		}
		loop, err := realised.NewLoopFrom(ctx, c.planner(c.places[0]), p.value, plan)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if err := carryOut(strings.TrimSuffix(filepath.Base(name), ".json"), loop, c.ways(scheduling.PlacementFree)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return results, nil
}

// planner plans for a placement.
func (c *command) planner(place scheduling.PlacementPolicy) provisioning.Planner {
	policy := c.policy
	policy.Placement = place
	return provisioning.Planner{Policy: policy}
}

func readPlan(name string) (*scheduling.Plan, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	plan, err := manifest.ReadPlan(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return plan, nil
}

func placements() []scheduling.PlacementPolicy {
	return []scheduling.PlacementPolicy{scheduling.PlacementPinned, scheduling.PlacementFree, scheduling.PlacementNominated}
}

// ways are those in which plans for a placement are carried out, short of the order: the
// placement's own, and all for plans that take pods to land as planned.
func (c *command) ways(place scheduling.PlacementPolicy) (ways []realised.Way) {
	if place != scheduling.PlacementNominated {
		ways = append(ways, realised.Way{Batches: 1})
		if c.batches > 1 {
			ways = append(ways, realised.Way{Batches: c.batches})
		}
	}
	if place != scheduling.PlacementFree {
		ways = append(ways, realised.Way{Batches: 1, Nominated: realised.All}, realised.Way{Batches: 1, Nominated: realised.InTurn})
	}
	return ways
}
