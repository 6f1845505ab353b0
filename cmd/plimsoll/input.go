package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/samber/lo"
	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/bills"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/costs"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/pools"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/pricelists"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/regions"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/typos"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/internal/clouds"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/buffers"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// inputFlags are the flags that name the input: manifests, catalog, and changes to them.
type inputFlags struct {
	files         []string
	recursive     bool
	ignoreUnknown bool
	skipInvalid   bool
	allowed       [][2]string           // labels that NodePools may buy although their requirements exclude them
	sizes         map[string]pools.Size // of node groups, as far as they are stated
	scoring       scheduling.ScoringStrategyType
	headroom      []buffers.Headroom
	// elsewhere plans the pods for the region of the catalog, if that is another than theirs; rebuild plans them on new
	// nodes in their own region. Only the pods of the counted nodes take part then, because the price of the cluster
	// counts only these nodes.
	elsewhere bool
	rebuild   bool
	counted   map[string]bool
	market    marketFlags
}

// register adds the flags to a command.
func (f *inputFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVarP(&f.files, "filename", "f", nil, "`FILE`, directory or - (stdin) of manifests in YAML or JSON; may be repeated")
	flags.BoolVarP(&f.recursive, "recursive", "R", false, "read directories recursively")
	flags.BoolVar(&f.ignoreUnknown, "ignore-unknown", false, "skip objects of unknown kinds instead of failing")
	flags.BoolVar(&f.skipInvalid, "skip-invalid", false, "skip files and objects that are not valid, such as charts, templates, kustomize patches and duplicates, and list them at the end")
	grouped(cmd, groupInput)
	textFlag(flags, "allow", "let NodePools launch nodes with the label `KEY=VALUE`, such as kubernetes.io/arch=arm64, although their requirements exclude it; may be repeated", func(text string) error {
		key, value, found := strings.Cut(text, "=")
		if !found {
			return errors.New("want KEY=VALUE")
		}
		f.allowed = append(f.allowed, [2]string{key, value})
		_, err := new(scheduling.NodePool).Allow(key, value)
		return err
	})
	textFlag(flags, "group-size", "minimum and maximum size of a node group: `NAME=MIN:MAX`, such as workers=2:10, in a cluster without NodePools; may be repeated. Default: a minimum of 1 and no maximum", func(text string) error {
		name, size, err := pools.ParseSize(text)
		if err == nil {
			f.sizes = lo.Assign(f.sizes, map[string]pools.Size{name: size})
		}
		return err
	})
	textFlag(flags, "headroom", "keep room free: `AMOUNT` is a share of the CPU and memory that pods request, such as 15%, or a size, such as cpu=8,memory=32Gi; pool=NAME: before it is for the nodes of a NodePool, such as pool=general:15%; may be repeated, and adds up", func(text string) error {
		h, err := parseHeadroom(text)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(f.headroom, func(known buffers.Headroom) bool { return known.NodePool == h.NodePool })
		if i < 0 {
			f.headroom = append(f.headroom, h)
			return nil
		}
		known := &f.headroom[i]
		known.Share += h.Share
		for name, q := range h.Amounts {
			sum := known.Amounts[name].DeepCopy()
			sum.Add(q)
			known.Amounts = lo.Assign(known.Amounts, corev1.ResourceList{name: sum})
		}
		return nil
	})
	choiceFlag(flags, &f.scoring, "scoring-strategy", "scoring `STRATEGY` of the kube-scheduler plugin NodeResourcesFit, for --placement free; default: from the KubeSchedulerConfiguration of the input, or else LeastAllocated", scheduling.LeastAllocated, scheduling.MostAllocated)
	grouped(cmd, groupBuy)
	f.market.register(cmd)
}

// problem is the input as the command has read it.
type problem struct {
	*manifest.Snapshot
	// policy is the policy of the plan; it has the node overhead.
	policy scheduling.Policy
	// assumed says that neither a flag nor the input names the catalog.
	assumed bool
	// today is the time of the run, by which prices have an age.
	today time.Time
	// keep are the filters that an offering must pass to be bought.
	keep []instancetypes.Filter
	// grouped says that the NodePools are made from node groups.
	grouped bool
	// least is the minimum size of each node group, and sized has those of which it is stated.
	least map[string]int
	sized map[string]pools.Size
	// bills are the bills under the commitments and discounts of --billing; nil without any.
	bills *bills.Bills
	// ownPools says that the NodePools are objects of the input.
	ownPools bool
	// rebuild says that the pods are planned for another region or on new nodes; moving is the number of them that run now.
	rebuild bool
	moving  int
}

// load reads the manifests and the catalog. The error has the faults of both.
func (f *inputFlags) load(a *app) (*problem, error) {
	if len(f.files) == 0 {
		return nil, usagef("nothing to read: name manifests with -f FILE, -f DIRECTORY or -f - for stdin")
	}
	stdin := &counted{in: a.stdin}
	loader := manifest.Loader{Stdin: stdin, Recursive: f.recursive, IgnoreUnknown: f.ignoreUnknown, SkipInvalid: f.skipInvalid}
	snapshot, err := loader.Load(f.files...)
	grouped := err == nil && snapshot.AssumeNodePools() // for the catalog to know how nodes are paid for
	p := &problem{Snapshot: snapshot, keep: f.market.keep(), grouped: grouped, sized: f.sizes, today: now()}
	sold := f.market
	if err == nil && (f.elsewhere || f.rebuild) {
		f.leave(p, &sold)
	}
	market, marketErr := sold.catalog(snapshot)
	switch {
	case err != nil:
	case slices.Contains(f.files, manifest.Stdin) && stdin.read == 0:
		err = errors.New("stdin is empty: did the command before the pipe fail? kubectl prints nothing if the cluster lacks one of the requested kinds, such as nodepools")
	case snapshot.Documents == 0 && len(snapshot.Warnings) == 0:
		err = fmt.Errorf("no objects in %s: it is empty or has only comments", figures.Join(f.sources()))
	}
	if err := errors.Join(err, marketErr); err != nil {
		return nil, err
	}
	a.locate, a.skipped = snapshot.Locate, snapshot.Skipped
	p.assumed, p.Problem.Catalog = market.assumed, market.Catalog
	p.Warnings = append(p.Warnings, market.leftOut...)
	p.ownPools = len(p.Problem.NodePools) > 0 && !grouped
	if p.least, err = pools.Sizes(snapshot, f.sizes); err != nil {
		return nil, err
	}
	pools.Assume(snapshot, grouped, p.buys(""), f.market.types)
	pools.Allow(snapshot, f.allowed)
	if err := f.keepRoom(p); err != nil {
		return nil, err
	}
	if s := &p.Problem.Scheduler.Scoring; f.scoring != "" {
		s.Type, s.Shape = f.scoring, nil
	}
	if err := p.SetCatalog(market.Catalog); err != nil {
		return nil, err
	}
	p.Warnings = append(p.Warnings, typos.OutOfStock(&p.Problem)...)
	if err := p.commit(market); err != nil {
		return nil, err
	}
	p.Warnings = append(p.Warnings, typos.Warnings(&p.Problem, market.Catalog)...)
	return p, nil
}

// parseHeadroom reads a value of --headroom.
func parseHeadroom(text string) (h buffers.Headroom, err error) {
	if rest, ok := strings.CutPrefix(text, "pool="); ok {
		if h.NodePool, text, ok = strings.Cut(rest, ":"); !ok || h.NodePool == "" {
			return h, errors.New("want pool=NAME:AMOUNT, such as pool=general:15%")
		}
	}
	if strings.HasSuffix(text, "%") {
		h.Share, err = figures.ParsePercent(text)
		return h, err
	}
	h.Amounts, err = figures.ParseSize(text)
	return h, err
}

// keepRoom adds the virtual pods of --headroom to a problem, and warns of a share of nothing.
func (f *inputFlags) keepRoom(p *problem) error {
	for _, h := range f.headroom {
		list, err := h.Buffers(&p.Problem)
		if err != nil {
			return usagef("--%w", err)
		}
		if len(list) == 0 && h.Share > 0 {
			pods := "pods"
			if h.NodePool != "" {
				pods += " of NodePool " + h.NodePool
			}
			p.Warnings = append(p.Warnings, scheduling.Warning{Object: "--headroom", Message: fmt.Sprintf(
				"keeps no room: %s is a share of the CPU and memory that %s request, and they request none", figures.Percent(h.Share), pods)})
		}
		for i := range list {
			p.KeepRoom(&list[i])
		}
	}
	return nil
}

// commit applies the commitments of --billing to the input, see [bills.Apply].
func (p *problem) commit(m *market) (err error) {
	in := &m.billing
	for _, note := range in.Notes {
		p.Warnings = append(p.Warnings, scheduling.Warning{Note: !note.Doubt, Object: note.File, Message: note.Message})
	}
	if len(in.Commitments)+len(in.Reservations)+len(in.Discounts)+len(in.Offers) == 0 {
		return nil
	}
	if p.bills, err = bills.Apply(&p.Problem, m.full, in); err != nil {
		return err
	}
	p.Warnings = append(p.Warnings, p.bills.Warnings...)
	return nil
}

// beside refuses a plan that is on stdin where the manifests are, too.
func (f *inputFlags) beside(plan string) error {
	if plan == manifest.Stdin && slices.Contains(f.files, manifest.Stdin) {
		return usagef("stdin cannot hold both the manifests and the plan")
	}
	return nil
}

// leave moves the pods of counted nodes to where the catalog is, if that is in other regions than the
// input; or, to rebuild the cluster, to new nodes where the input is.
func (f *inputFlags) leave(p *problem, sold *marketFlags) {
	if f.rebuild && sold.name == "" {
		sold.name, _ = regions.Located(p.Snapshot) // where that is an error, it has been told of the baseline
	}
	if !f.rebuild {
		catalog, err := clouds.Read(sold.name)
		if err != nil || regions.Elsewhere(p.Snapshot, catalog) == nil {
			return // the error is reported where the prices are read
		}
	}
	pods := &p.Problem
	pods.Running = slices.DeleteFunc(slices.Clone(pods.Running), func(pod *corev1.Pod) bool { return !f.counted[pod.Spec.NodeName] })
	pending := len(pods.Pods)
	p.InAnotherRegion()
	p.rebuild, p.moving = true, len(pods.Pods)-pending
}

// sources are the names of the files, for readers.
func (f *inputFlags) sources() []string {
	names := slices.Clone(f.files)
	for i, name := range names {
		if name == manifest.Stdin {
			names[i] = "stdin"
		}
	}
	return names
}

// counted counts the bytes that are read through it.
type counted struct {
	in   io.Reader
	read int64
}

// Read implements [io.Reader].
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.read += int64(n)
	return n, err
}

// cluster is the cluster of the input for planning disruption; node groups keep their minimum sizes.
func (p *problem) cluster(planner disruption.Planner) disruption.Cluster {
	return p.keepLeast(planner, p.Cluster())
}

// keepLeast returns the cluster with the minimum sizes of its node groups as constraints.
func (p *problem) keepLeast(planner disruption.Planner, c disruption.Cluster) disruption.Cluster {
	c = c.KeepAtLeast(planner, p.least)
	demanded := pools.Demanded(c.Nodes)
	for i := range c.Machines {
		c.Machines[i].MinimumFixed = c.Machines[i].MustStay != "" && demanded[c.Machines[i].Node]
	}
	return c
}

// buys is the part of a NodePool's catalog that passes the filters of the flags.
func (p *problem) buys(pool string) *instancetypes.Catalog {
	return p.Problem.CatalogOf(pool).Filter(p.keep...)
}

// groups are the node groups of the input, and how many nodes of each stay.
func (p *problem) groups() *pools.Groups { return &pools.Groups{Groups: p.NodeGroups, Least: p.least} }

// expected is what a node of an option is expected to cost per hour, with what it costs beside the instance.
func (p *problem) expected(pool string, o *scheduling.LaunchOption) offerings.Price {
	_, beside, ok := costs.Expected(p.Problem.CatalogOf(pool), p.policy, o.Key())
	if !ok {
		beside = p.policy.NodeOverhead
	}
	return offerings.Sum(o.Price, beside)
}

// madeWith is a sentence about the source, the date and the age of the prices.
func (p *problem) madeWith() string {
	text := pricelists.Dates(p.Problem.Catalog.Origin(), p.assumed)
	if n := len(p.Overlays); n > 0 {
		text += ", changed by " + figures.Count(n, "NodeOverlay")
	}
	return text + "."
}

// oldPrices says how old the prices are, and how to renew them; "" if they are not old.
func (p *problem) oldPrices() string {
	if old := pricelists.Old(p.today, p.Problem.Catalog.Origin()); old != "" {
		return "prices are old: " + old + "; plimsoll prices renews them: " + pricesPage
	}
	return ""
}

// warnOfOldPrices puts a warning of old prices before the others, for output that is not for people.
func (p *problem) warnOfOldPrices(warnings []scheduling.Warning) []scheduling.Warning {
	if old := p.oldPrices(); old != "" {
		return slices.Insert(slices.Clone(warnings), 0, scheduling.Warning{Object: cmp.Or(p.Problem.Catalog.Name(), "catalog"), Message: old})
	}
	return warnings
}

// readInstead names the objects that an input without NodePools or pods has instead; "" if lacking is false.
func (p *problem) readInstead(lacking bool, absent string) string {
	n := lo.Sum(slices.Collect(maps.Values(p.Kinds)))
	if !lacking || n == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s read: %s; %s)", figures.Count(n, "object"), figures.Summarise(p.Kinds, 5), absent)
}

// byWorkload writes how many pods are of which workload, the most first.
func (p *problem) byWorkload(pods []string, most int) string {
	return figures.Summarise(lo.CountValuesBy(pods, p.Workload), most)
}
