package instance

import (
	"encoding/binary"
	"iter"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// LocationIndex numbers every location where a pod can be: the offers of each template in the order of
// Offered, then the nodes by name. Its axes are columns over locations, e.g. the zone of each. A place is the number of a
// node in Places, a bin its number in the engine's list, and its location is OnSale plus its place.
type LocationIndex struct {
	In            *Instance
	Nodes         *nodeLocations
	Places        []locationNode // all nodes, by name
	NodeAt        map[string]int // by node name, its place
	First         []int          // by template, the location of its first offer
	OnSale        int            // the number of locations that are offers
	BinOf         []int32        // by place; -1 where the node receives no pods
	PlaceOf       []int32        // by bin, its place
	LocationCache *locationCache
	Axes          []*axis
	axisOf        map[string]int
	ledger        *Ledger
	rooms         [][]int64             // by bin; nil before the first use
	fitting       map[string]model.Bits // by encoded request, the bins with room for it
	// sorted is the result of [offerGroupsOf] while the index has sortedBy axes; nil before the first use.
	sorted   *offerGroups
	sortedBy int
}

// axis is a column over locations: the value of a label, whether a spread counts a location, or whether a preferred term matches
// there. -1 is no value.
type axis struct {
	id     int     // number in the location cache
	At     []int32 // by location, an index into Values or 0 and 1
	Values []string
	Flat   bool // whether all locations have the same value
}

// NewLocationIndex lists the locations of an instance. Axes are added when they are asked for.
func NewLocationIndex(c *Instance) *LocationIndex {
	k := nodeLocationsOf(c)
	l := &LocationIndex{In: c, Nodes: k, Places: k.places, NodeAt: k.at, axisOf: map[string]int{}, fitting: map[string]model.Bits{}, ledger: NewLedger(c)}
	for ti := range c.Offered {
		l.First = append(l.First, l.OnSale)
		l.OnSale += len(c.Offered[ti].List)
	}
	linkBins(l)
	l.LocationCache = openLocationCache(l)
	return l
}

// NodeRooms is the room of each node that receives pods, by bin.
func (l *LocationIndex) NodeRooms() [][]int64 {
	if l.rooms == nil {
		l.rooms = make([][]int64, len(l.In.Nodes))
		for i := range l.rooms {
			l.rooms[i] = l.In.Bins[i].Room
		}
	}
	return l.rooms
}

// Fitting is the set of bins with room for a request. It is remembered by request.
func (l *LocationIndex) Fitting(request []int64) model.Bits {
	key := make([]byte, 0, 64)
	for _, q := range request {
		key = binary.AppendVarint(key, q)
	}
	if out, ok := l.fitting[string(key)]; ok {
		return out
	}
	out := model.NewBits(len(l.In.Bins))
	if r := l.In.NodeRooms; r != nil && len(request) > 0 {
		for bin := range r.Fitting(request) {
			out.Set(int(bin))
		}
	} else {
		for bin := range l.In.Bins {
			if model.Fits(l.In.Bins[bin].Room, request) {
				out.Set(bin)
			}
		}
	}
	l.fitting[string(key)] = out
	return out
}

// locations is the number of locations.
func (l *LocationIndex) locations() int { return l.OnSale + len(l.Places) }

// OnOffer reports whether limits and reservations leave room for one launch of an offer by a template.
func (l *LocationIndex) OnOffer(template, offer int) bool {
	return l.ledger.Affords(offers.OfferRef{Template: template, Offer: offer})
}

// ChoiceAmong reports whether there are offers of template ti for which do is true, and they satisfy the minValues of
// its NodePool.
func (l *LocationIndex) ChoiceAmong(ti int, do func(i int, o offers.TemplateOffer) bool) bool {
	v := l.In.Templates[ti]
	var row model.Bits
	if len(offers.FloorKeys(v.Set)) > 0 {
		row = model.NewBits(len(l.In.Offers.Offers))
	}
	for i, o := range l.In.Offered[ti].List {
		if !do(i, o) {
			continue
		}
		if row == nil {
			return true
		}
		row.Set(o.Offer)
	}
	return row.Any() && l.In.ChoiceIn(v, row)
}

// KeyAxis is the number of the axis with the values of a label.
func (l *LocationIndex) KeyAxis(key string) int {
	return l.axis("k"+key, func() axis { return drawKey(l, key) })
}

// drawKey is the axis of a label. The value at an offer is the instance type's, else the template's.
func drawKey(l *LocationIndex, key string) axis {
	known := requirements.NormalizeKey(key)
	onSale, places := l.In.Offers.Column(known), l.Nodes.Column(key)
	fallbacks, has := make([]string, len(l.In.Templates)), make([]bool, len(l.In.Templates))
	used := make([]bool, len(onSale.Values))
	values := slices.Clone(places.Values)
	for ti, v := range l.In.Templates {
		fallbacks[ti], has[ti] = v.Label(known)
		bare := false
		for _, o := range l.In.Offered[ti].List {
			if n := onSale.Numbers[o.Offer]; n >= 0 {
				used[n] = true
			} else {
				bare = true
			}
		}
		if bare && has[ti] {
			values = append(values, fallbacks[ti])
		}
	}
	for n, ok := range used {
		if ok {
			values = append(values, onSale.Values[n])
		}
	}
	a := axis{At: make([]int32, l.locations()), Values: podspec.Compacted(values)}
	number := func(value string) int32 {
		n, _ := slices.BinarySearch(a.Values, value)
		return int32(n)
	}
	numbers := make([]int32, len(onSale.Values))
	for n, ok := range used {
		if ok {
			numbers[n] = number(onSale.Values[n])
		}
	}
	for ti := range l.In.Templates {
		bare := int32(-1)
		if has[ti] {
			bare = number(fallbacks[ti])
		}
		for i, o := range l.In.Offered[ti].List {
			if n := onSale.Numbers[o.Offer]; n >= 0 {
				a.At[l.First[ti]+i] = numbers[n]
			} else {
				a.At[l.First[ti]+i] = bare
			}
		}
	}
	numbers = make([]int32, len(places.Values))
	for n, value := range places.Values {
		numbers[n] = number(value)
	}
	for i, n := range places.numbers {
		if n >= 0 {
			n = numbers[n]
		}
		a.At[l.OnSale+i] = n
	}
	return a
}

// PresenceAxis is the number of the axis that is 0 where a label is present, and -1 elsewhere.
func (l *LocationIndex) PresenceAxis(key string) int {
	of := l.Axes[l.KeyAxis(key)]
	return l.axis("p"+key, func() axis {
		a := axis{At: make([]int32, l.locations()), Values: []string{"*"}}
		for location, v := range of.At {
			a.At[location] = min(v, 0)
		}
		return a
	})
}

// axis is the number of the axis with a name. draw builds it where neither the index nor the location cache has it.
func (l *LocationIndex) axis(name string, draw func() axis) int {
	if n, ok := l.axisOf[name]; ok {
		return n
	}
	a := l.LocationCache.axis(name, draw)
	n := slices.Index(l.Axes, a)
	if n < 0 {
		n = len(l.Axes)
		l.Axes = append(l.Axes, a)
	}
	l.axisOf[name] = n
	return n
}

// Filter decides which nodes a topology spread constraint counts.
type Filter struct {
	Group         int // the group whose node affinity and tolerations are honoured; -1 where neither is
	HonorAffinity bool
	HonorTaints   bool
	Keys          string // topology keys that a node must have, joined by commas
}

// FilterAxis is the number of the axis that is 1 at the locations that pass a filter, and 0 elsewhere.
func (l *LocationIndex) FilterAxis(f Filter) int {
	b := binary.AppendVarint([]byte{'f'}, int64(f.Group))
	if f.HonorAffinity {
		b = append(b, 'a')
	}
	if f.HonorTaints {
		b = append(b, 't')
	}
	var needed []*axis
	for _, key := range strings.Split(f.Keys, ",") {
		if key != "" && key != corev1.LabelHostname {
			needed = append(needed, l.Axes[l.KeyAxis(key)])
		}
	}
	return l.axis(string(b)+f.Keys, func() axis { return drawFilter(l, f, needed) })
}

// drawFilter is the axis of a filter. needed are the axes of its keys without the host name, because offers have no host
// name yet.
func drawFilter(l *LocationIndex, f Filter, needed []*axis) axis {
	a := axis{At: make([]int32, l.locations())}
	for i := range a.At {
		a.At[i] = 1
	}
	bar := func(location int, barred bool) {
		if barred {
			a.At[location] = 0
		}
	}
	if slices.Contains(strings.Split(f.Keys, ","), corev1.LabelHostname) {
		for i, v := range l.Nodes.Column(corev1.LabelHostname).numbers {
			bar(l.OnSale+i, v < 0)
		}
	}
	for _, x := range needed {
		for location, v := range x.At {
			bar(location, v < 0)
		}
	}
	if f.Group >= 0 {
		filterGroup(l, f, bar)
	}
	return a
}

// filterGroup calls bar for the locations that nodeAffinityPolicy or nodeTaintsPolicy of a spread excludes.
func filterGroup(l *LocationIndex, f Filter, bar func(int, bool)) {
	group := l.In.Classes.Groups[f.Group]
	for ti, v := range l.In.Templates {
		hard, _ := v.Untolerated(group)
		var row model.Bits
		if f.HonorAffinity {
			row = l.In.Offers.AdmitsOwn(v, group, false)
		}
		for i, o := range l.In.Offered[ti].List {
			bar(l.First[ti]+i, f.HonorTaints && hard != nil || row != nil && !row.Has(o.Offer))
		}
	}
	choosy := f.HonorAffinity && (len(group.Selector) > 0 || group.Affine)
	if !f.HonorTaints && !choosy {
		return
	}
	for i := range l.Places {
		n := &l.Places[i]
		there := group.FitOn(n.node.Name, n.Labels, n.taints)
		bar(l.OnSale+i, f.HonorTaints && there.Taint != nil || choosy && !there.Affinity)
	}
}

// PreferenceAxis is the number of the axis that is 1 where a preferred node affinity term matches, and 0 elsewhere.
func (l *LocationIndex) PreferenceAxis(t *podspec.Term) int {
	return l.axis("w"+t.Text(), func() axis { return preferenceAxis(l, t) })
}

// preferenceAxis is the axis of a preferred term.
func preferenceAxis(l *LocationIndex, t *podspec.Term) axis {
	a := axis{At: make([]int32, l.locations())}
	for ti, v := range l.In.Templates {
		row := l.In.Offers.Matching(v, t)
		if row == nil {
			continue
		}
		for i, o := range l.In.Offered[ti].List {
			if row.Has(o.Offer) {
				a.At[l.First[ti]+i] = 1
			}
		}
	}
	for i := range l.Places {
		if t.MatchesNode(l.Places[i].node.Name, l.Places[i].Labels) {
			a.At[l.OnSale+i] = 1
		}
	}
	return a
}

// RunningSets calls f with each running pod that a topology term selects: the place of its node, and the targets of
// which the pod is one.
func (l *LocationIndex) RunningSets(f func(pod *corev1.Pod, node int, among []int32)) {
	if len(l.In.TopologyTerms.Targets.List) == 0 {
		return
	}
	book := selectorIndexOf(l.In)
	for i, list := range book.selectedPods {
		if node, ok := l.NodeAt[book.hosts[i].Name]; ok {
			for _, x := range list {
				f(x.pod, node, x.among)
			}
		}
	}
}

// LocationOf is the location of a template's offer; -1 where no pod may use the offer.
func (l *LocationIndex) LocationOf(template, offer int) int {
	locations := l.LocationCache.locations[template]
	if locations == nil {
		locations = slices.Repeat([]int32{-1}, len(l.In.Offers.Offers))
		for i, o := range l.In.Offered[template].List {
			locations[o.Offer] = int32(l.First[template] + i)
		}
		l.LocationCache.locations[template] = locations
	}
	return int(locations[offer])
}

// BinsWith is the set of bins whose nodes have a label.
func (l *LocationIndex) BinsWith(key string) model.Bits {
	out := model.NewBits(len(l.In.Nodes))
	column := l.Nodes.Column(key)
	for bin, n := range l.PlaceOf {
		if column.numbers[n] >= 0 {
			out.Set(bin)
		}
	}
	return out
}

// RunningAntiAffinity yields the required anti-affinity of running pods with the place of each pod's node. A node without the topology
// key is left out, because the term then excludes no pod.
func (l *LocationIndex) RunningAntiAffinity() iter.Seq2[*ExistingAntiAffinity, int] {
	return func(yield func(*ExistingAntiAffinity, int) bool) {
		var column *placeColumn
		for i := range l.In.ExistingAntiAffinity {
			k := &l.In.ExistingAntiAffinity[i]
			if i == 0 || k.Term.Key != l.In.ExistingAntiAffinity[i-1].Term.Key {
				column = l.Nodes.Column(k.Term.Key)
			}
			if n, ok := l.NodeAt[k.Node]; ok && column.numbers[n] >= 0 && !yield(k, n) {
				return
			}
		}
	}
}
