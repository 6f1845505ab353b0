package scheduling

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// template is a NodePool with a value chosen for every label that the pool leaves
// open and some pod or daemon asks about. A pool has one template for each
// combination of values that pods can tell apart.
type template struct {
	pool    *NodePool
	number  int // of the pool, in the order of poolOrder
	catalog *instancetypes.Catalog
	set     requirements.Set
	labels  map[string]string // what machines carry beside the labels of their offer
	within  model.Bits        // offers that the pool's requirements allow
	open    map[string]bool   // labels that the pool leaves open
	// selectors are the requirements that all launches share; built when first needed.
	selectors []requirements.Selector
}

// poolOrder returns the pools that may launch machines: not static, not being
// deleted; by weight, highest first, then by name.
func poolOrder(pools []*NodePool) []*NodePool {
	var out []*NodePool
	for _, p := range pools {
		if p.Spec.Replicas == nil && p.DeletionTimestamp == nil {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b *NodePool) int {
		return cmp.Or(cmp.Compare(b.weight(), a.weight()), strings.Compare(a.Name, b.Name))
	})
	return out
}

// poolSet is everything that holds for the machines of a pool: its requirements,
// its labels, its name and its node class.
func poolSet(p *NodePool) requirements.Set {
	set, err := requirements.FromSelectors(p.Spec.Template.Spec.Requirements)
	if err != nil {
		set = requirements.NewSet(impossible(NodePoolLabel)) // validation refuses such pools
	}
	return set.Intersect(requirements.FromLabels(poolLabels(p)))
}

// poolLabels are the labels that a pool puts on its machines.
func poolLabels(p *NodePool) map[string]string {
	labels := map[string]string{}
	for k, v := range p.Spec.Template.Metadata.Labels {
		labels[requirements.NormalizeKey(k)] = v
	}
	labels[NodePoolLabel] = p.Name
	if ref := p.Spec.Template.Spec.NodeClassRef; ref != nil && ref.Group != "" && ref.Kind != "" && ref.Name != "" {
		labels[ref.Group+"/"+strings.ToLower(ref.Kind)] = ref.Name
	}
	return labels
}

// templates builds the templates of a pool. asked are the expressions of pods and
// of daemons, by key.
func (t *offerTable) templates(p *NodePool, number int, catalog *instancetypes.Catalog, asked *questions) (out []*template, unchecked []string) {
	set := poolSet(p)
	labels := poolLabels(p)
	within := model.NewBits(len(t.offers))
	if span, ok := t.spans[catalog]; ok {
		for i := span[0]; i < span[1]; i++ {
			within.Set(i)
		}
	}
	var open []openKey
	for r := range set.All() {
		key := r.Key()
		value, labelled := labels[key]
		if t.defines(key, catalog) {
			within.And(t.row(r, value, labelled))
			continue
		}
		if requirements.WellKnown().Has(key) && !labelled && !r.AllowsAbsent() {
			unchecked = append(unchecked, key)
		}
		if labelled {
			if !r.Has(value) {
				within = model.NewBits(len(t.offers))
			}
			continue
		}
		if asked.has(key) {
			open = append(open, openKey{key: key, atoms: asked.atoms(r)})
			continue
		}
		if v, ok := r.Any(); ok && !r.AllowsAbsent() {
			labels[key] = v
		}
	}
	// Every cloud puts a region on its nodes. Where neither catalog nor pool says
	// which, pods may ask for one, and the launch passes the wish on. Other labels
	// that nobody defines are not assumed: a machine may turn out not to have them.
	if key := corev1.LabelTopologyRegion; len(asked.byKey[key]) > 0 && !set.Has(key) && !t.defines(key, catalog) {
		open = append(open, openKey{key: key, atoms: asked.atoms(set.Get(key))})
	}
	for _, choice := range combine(open, asked) {
		v := &template{pool: p, number: number, catalog: catalog, set: set, labels: map[string]string{}, within: within, open: map[string]bool{}}
		for k, value := range labels {
			v.labels[k] = value
		}
		for i, a := range choice {
			v.open[open[i].key] = true
			if !a.absent {
				v.labels[open[i].key] = a.value
			}
		}
		out = append(out, v)
	}
	return out, unchecked
}

// admits returns the offers whose machines, bought for this template, satisfy what a
// constraint asks of a node. A daemon is admitted, for it takes room, where
// a label that the provider may set, and nobody defines, would have to suit it.
func (t *offerTable) admits(v *template, c *constraint, daemon bool) model.Bits {
	row := t.admitsOwn(v, c, daemon)
	t.narrowToVolumes(row, v, c)
	return row
}

// admitsOwn is admits for selector and affinity alone, which is what topology spread
// looks at.
func (t *offerTable) admitsOwn(v *template, c *constraint, daemon bool) model.Bits {
	row := v.within.Clone()
	narrow := func(row model.Bits, e *expression) {
		if daemon && t.undefined(v, e.Key()) && requirements.WellKnown().Has(e.Key()) {
			return // the provider may set the label: a daemon is counted where it may run
		}
		row.And(t.satisfying(v, e))
	}
	for i := range c.selector {
		narrow(row, &c.selector[i])
	}
	if !c.affine {
		return row
	}
	matched := model.NewBits(len(t.offers))
	for i := range c.terms {
		if !c.terms[i].fieldsAllowNew() {
			continue
		}
		alternative := row.Clone()
		for j := range c.terms[i].labels {
			narrow(alternative, &c.terms[i].labels[j])
		}
		matched.Or(alternative)
	}
	return matched
}

// matching returns the offers whose machines, bought for a template, satisfy a term,
// or nil where no new machine can.
func (t *offerTable) matching(v *template, x *term) model.Bits {
	if !x.fieldsAllowNew() {
		return nil
	}
	row := v.within.Clone()
	for i := range x.labels {
		row.And(t.satisfying(v, &x.labels[i]))
	}
	return row
}

// satisfying returns the offers whose machines, bought for a template, satisfy one
// expression.
func (t *offerTable) satisfying(v *template, e *expression) model.Bits {
	value, ok := v.labels[e.Key()]
	if !ok {
		value, ok = ready()[e.Key()]
	}
	return t.row(e.Requirement, value, ok)
}

// undefined reports whether neither template nor catalog says anything of a label.
func (t *offerTable) undefined(v *template, key string) bool {
	_, own := v.labels[key]
	_, every := ready()[key]
	return !own && !every && !t.defines(key, v.catalog)
}

// hardTaint returns the pool's first taint that the constraint does not tolerate.
func (v *template) hardTaint(c *constraint) (*corev1.Taint, bool) {
	return untolerated(c.tolerations, v.pool.Spec.Template.Spec.Taints)
}
