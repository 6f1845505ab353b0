package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// inputFlags say what problem is at hand.
type inputFlags struct {
	files         []string
	recursive     bool
	ignoreUnknown bool
	skipInvalid   bool
	market        marketFlags
}

// register adds the flags to a command.
func (f *inputFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVarP(&f.files, "filename", "f", nil, "`FILE`, directory, or - for stdin, with manifests in YAML or JSON; may be repeated")
	flags.BoolVarP(&f.recursive, "recursive", "R", false, "read the directories below a directory, too")
	flags.BoolVar(&f.ignoreUnknown, "ignore-unknown", false, "leave out objects of unknown kinds instead of refusing them")
	flags.BoolVar(&f.skipInvalid, "skip-invalid", false, "leave out what is no valid object, such as charts, templates, kustomize's patches and duplicates, and list it at the end")
	grouped(cmd, groupInput)
	f.market.register(cmd)
}

// problem is what the input comes to.
type problem struct {
	*manifest.Snapshot
	// catalog is what is on sale before overlays, for comparing prices.
	catalog *instancetypes.Catalog
	// assumed says that nothing told which catalog is meant.
	assumed bool
	// keep are the filters that what may be bought has to pass.
	keep []instancetypes.Filter
	// grouped says that the NodePools stand for groups of nodes.
	grouped bool
}

// load reads the manifests and the catalog, and reports what is wrong with both.
func (f *inputFlags) load(a *app) (*problem, error) {
	if len(f.files) == 0 {
		return nil, usagef("nothing to read: name manifests with -f FILE, -f DIRECTORY or -f - for stdin")
	}
	stdin := &counted{in: a.stdin}
	loader := manifest.Loader{Stdin: stdin, Recursive: f.recursive, IgnoreUnknown: f.ignoreUnknown, SkipInvalid: f.skipInvalid}
	snapshot, err := loader.Load(f.files...)
	grouped := err == nil && snapshot.AssumeNodePools() // for the catalog to know how nodes are paid for
	market, marketErr := f.market.catalog(snapshot)
	switch {
	case err != nil:
	case slices.Contains(f.files, manifest.Stdin) && stdin.read == 0:
		err = errors.New("stdin is empty: did the command before the pipe fail? kubectl prints nothing where the cluster lacks one of the kinds that are asked for, such as nodepools")
	case snapshot.Documents == 0 && len(snapshot.Warnings) == 0:
		err = fmt.Errorf("there is no object in %s: blanks and comments at most", figures.Join(f.sources()))
	}
	if err := errors.Join(err, marketErr); err != nil {
		return nil, err
	}
	a.locate, a.skipped = snapshot.Locate, snapshot.Skipped
	p := &problem{Snapshot: snapshot, catalog: market.Catalog, keep: f.market.keep(), assumed: market.assumed, grouped: grouped}
	p.Problem.Catalog = market.Catalog
	p.Warnings = append(p.Warnings, market.warnings...)
	p.poolsOrDefault(f.market.types)
	if err := p.SetCatalog(p.catalog); err != nil {
		return nil, err
	}
	p.warnOfTypos()
	return p, nil
}

// sources names what is read, for people.
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

// buys is what a NodePool may buy of its catalog, as the flags have it.
func (p *problem) buys(pool string) *instancetypes.Catalog {
	return p.catalogOf(pool).Filter(p.keep...)
}

// catalogOf is the catalog of a NodePool.
func (p *problem) catalogOf(pool string) *instancetypes.Catalog {
	if c, ok := p.Problem.PoolCatalogs[pool]; ok {
		return c
	}
	return p.catalog
}

// poolsOrDefault adds the default NodePools where pods wait and there is no other, or only
// those of node groups that have nothing on sale. They buy what the flags allow, where these
// say more than they do.
func (p *problem) poolsOrDefault(types []offerings.CapacityType) {
	own := p.Problem.NodePools
	if len(p.Problem.Pods) == 0 || len(own) > 0 && (!p.grouped || len(provisioning.IdleNodePools(&p.Problem)) < len(own)) {
		return
	}
	for _, pool := range manifest.DefaultNodePools(p.buys(""), p.Problem.Pods) {
		if slices.ContainsFunc(own, func(o *scheduling.NodePool) bool { return o.Name == pool.Name }) {
			pool.Name = "assumed-" + pool.Name
		}
		p.Problem.NodePools = append(p.Problem.NodePools, pool)
		spec := &pool.Spec.Template.Spec
		if len(types) > 0 {
			spec.Requirements = slices.DeleteFunc(spec.Requirements, func(s requirements.Selector) bool { return s.Key == requirements.CapacityTypeKey })
		}
		p.Warnings = append(p.Warnings, scheduling.Warning{
			Object: "NodePool/" + pool.Name,
			Message: fmt.Sprintf("there is no NodePool in the input, so one is assumed that requires %s; a NodePool of your own may allow what costs less, such as arm64 and spot",
				describe(spec.Requirements)),
		})
	}
}

// describe writes the requirements of a pool for people.
func describe(selectors []requirements.Selector) string {
	var parts []string
	for _, s := range selectors {
		if r, err := s.Requirement(); s.Operator == requirements.Gt {
			parts = append(parts, s.Key+" above "+figures.Join(s.Values))
		} else if err == nil {
			parts = append(parts, r.Short())
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return figures.Join(parts)
}
