package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/validate"
)

// screened is what a group's constraints leave of a template's offers.
type screened struct {
	counts   map[scheduling.Reason]int // why the others were ruled out; Count is unset in the keys
	admitted model.Bits                // offers that only room can still rule out
	idle     model.Bits                // offers that would be among them if they were on sale
	excluded model.Bits                // offers that would be if the settings allowed them; nil for none
	taint    *corev1.Taint             // the taint that rules the whole pool out
}

// screened applies a group's constraints to the offers of every template.
func (e *Explainer) screened(group int) []screened {
	if s, ok := e.screen[group]; ok {
		return s
	}
	out := make([]screened, len(e.Templates))
	seen := map[string]bool{}
	for ti, v := range e.Templates {
		out[ti] = e.screenTemplate(v, ti, e.Classes.Groups[group], !seen[v.Pool.Name])
		seen[v.Pool.Name] = true
	}
	for _, p := range e.Pools {
		if !seen[p.Name] && len(out) > 0 {
			out[0].counts[scheduling.Reason{Code: scheduling.ReasonNoInstanceType, Detail: "node pool " + p.Name + " allows no value of a label that it requires"}]++
		}
	}
	e.screen[group] = out
	return out
}

// screenTemplate applies a group's constraints to the offers of one template.
func (e *Explainer) screenTemplate(v *offers.Template, ti int, group *podspec.Constraint, firstOfPool bool) screened {
	s := screened{counts: map[scheduling.Reason]int{}, admitted: v.Within.Clone()}
	count := func(r scheduling.Reason, gone model.Bits) {
		if n := gone.Count(); n > 0 {
			s.counts[r] += n
			s.admitted.AndNot(gone)
		}
	}
	if !v.Within.Any() {
		if firstOfPool {
			s.counts[scheduling.Reason{Code: scheduling.ReasonNoInstanceType, Detail: e.idlePool(v.Pool)}]++
		}
		return s
	}
	if hard, _ := v.HardTaint(group); hard != nil {
		s.taint = hard
		count(scheduling.Reason{Code: scheduling.ReasonTaints, Detail: fmt.Sprintf("node pool %s has the untolerated taint %s", v.Pool.Name, taintText(hard))}, v.Within)
		return s
	}
	for i := range group.Selector {
		x := &group.Selector[i]
		gone := s.admitted.Clone()
		gone.AndNot(e.Offers.Satisfying(v, x))
		count(scheduling.Reason{Code: scheduling.ReasonRequirements, Detail: "node selector " + x.Raw + "=" + strings.Join(x.Values(), ",") + " does not match"}, gone)
	}
	gone := s.admitted.Clone()
	gone.AndNot(e.Offers.AdmitsOwn(v, group, false))
	count(scheduling.Reason{Code: scheduling.ReasonRequirements, Detail: "required node affinity does not match: " + affinityText(group)}, gone)
	count(volumeReason(group), e.screenVolumes(v, group, s.admitted))

	e.screenSettings(&s, count)
	s.idle = s.admitted.Clone()
	s.idle.Each(func(o int) {
		if e.Offers.Offers[o].Launchable {
			s.idle.Clear(o)
		} else {
			s.counts[e.notOnSale(v.Pool.Name, &e.Offers.Offers[o])]++
		}
	})
	s.admitted.AndNot(s.idle)
	for i, d := range e.Daemons {
		if podspec.PortsClash(group.Ports, d.Constraint.Ports) {
			taken := s.admitted.Clone()
			taken.And(e.Offered[ti].Daemons[i])
			count(scheduling.Reason{Code: scheduling.ReasonHostPorts, Detail: "daemon set " + d.Set.Name + " binds the same host port"}, taken)
		}
	}
	return s
}

// idlePool says why a pool has no offering to choose from, as the warning about it does.
func (e *Explainer) idlePool(pool *scheduling.NodePool) string {
	text, known := e.idle[pool.Name]
	if !known {
		text = "node pool " + pool.Name + " " + cmp.Or(validate.Idle(e.Problem, pool), "buys nothing: its requirements leave no instance type")
		e.idle[pool.Name] = text
	}
	return text
}

// affinityText writes the alternatives of a required node affinity.
func affinityText(c *podspec.Constraint) string {
	var terms []string
	for i := range c.Terms {
		var parts []string
		for j := range c.Terms[i].Labels {
			parts = append(parts, c.Terms[i].Labels[j].Short())
		}
		for j := range c.Terms[i].Fields {
			parts = append(parts, c.Terms[i].Fields[j].Short())
		}
		terms = append(terms, strings.Join(parts, " and "))
	}
	return cmp.Or(strings.Join(terms, ", or "), "it has no usable term")
}

// settingsFix names the nearest offer that the settings alone keep from being bought.
func (e *Explainer) settingsFix(class *podspec.PodClass, id int, screens []screened) scheduling.Change {
	best, grounds := -1, 0
	for ti := range screens {
		if screens[ti].excluded == nil {
			continue
		}
		screens[ti].excluded.Each(func(o int) {
			x := &e.Offers.Offers[o]
			n := len(offers.Exclusions(e.Solver, x.InstanceType, x.Offering))
			if (best < 0 || n < grounds || n == grounds && x.Cost < e.Offers.Offers[best].Cost) &&
				e.holds(class, ti, o) && e.affords(ti, o) && e.free(id, ti, o) {
				best, grounds = o, n
			}
		})
	}
	if best < 0 {
		return scheduling.Change{}
	}
	return offers.Admitting(e.Solver, &e.Offers.Offers[best])
}

// screenSettings takes out the offers that the settings exclude.
func (e *Explainer) screenSettings(s *screened, count func(scheduling.Reason, model.Bits)) {
	by := map[offers.Exclusion]model.Bits{}
	s.admitted.Each(func(o int) {
		x := e.Offers.Offers[o].Excluded
		if x.Code == "" {
			return
		}
		if by[x] == nil {
			by[x] = model.NewBits(len(e.Offers.Offers))
		}
		by[x].Set(o)
		if s.excluded == nil {
			s.excluded = model.NewBits(len(e.Offers.Offers))
		}
		s.excluded.Set(o)
	})
	for x, row := range by {
		count(offers.Reason(e.Solver, x), row)
	}
}

// barred reports whether the catalog of a pool's own is what keeps an offer from being
// launched: elsewhere it is on sale. Node classes make such catalogs.
func (s *scene) barred(pool string, x *offers.Offer) bool {
	if s.Problem.PoolCatalogs[pool] == nil {
		return false
	}
	it, ok := s.Problem.Catalog.Get(x.InstanceType.Name)
	return ok && slices.ContainsFunc(it.Offerings, func(o offerings.Offering) bool {
		return o.Zone == x.Offering.Zone && o.CapacityType == x.Offering.CapacityType && o.ReservationID == x.Offering.ReservationID && o.Launchable()
	})
}

// notOnSale is why an offer of a pool cannot be launched.
func (s *scene) notOnSale(pool string, x *offers.Offer) scheduling.Reason {
	detail := "offerings are not on sale now"
	if s.barred(pool, x) {
		detail = "the node class or the catalog of node pool " + pool + " leaves offerings out"
	}
	return scheduling.Reason{Code: scheduling.ReasonUnavailable, Detail: detail}
}

// putOnSale is the change that lets an offer of a pool be launched.
func (s *scene) putOnSale(pool string, x *offers.Offer) scheduling.Change {
	if o := x.Offering; o.CapacityType == offerings.Reserved && o.ReservationCount < 1 && !o.Unavailable {
		return raiseReservation(o.ReservationID)
	}
	name := fmt.Sprintf("%s/%s/%s", x.InstanceType.Name, x.Offering.Zone, x.Offering.CapacityType)
	words := strings.ReplaceAll(name, "/", " ")
	text := "wait until " + words + " is on sale again"
	if s.barred(pool, x) {
		text = "let the node class or the catalog of node pool " + pool + " have " + words
	}
	return scheduling.Change{Kind: scheduling.ChangeOffering, Object: name, Text: text}
}

// volumeReason says that the volumes of a group keep it away from machines.
func volumeReason(c *podspec.Constraint) scheduling.Reason {
	return scheduling.Reason{Code: scheduling.ReasonVolume, Detail: "the pod's volumes can be used " + podspec.PlacesText(c)}
}

// fullReason says that a node takes no further volume of a driver.
func fullReason(driver string) scheduling.Reason {
	return scheduling.Reason{Code: scheduling.ReasonAttachLimit, Detail: "no further volumes of " + driver + " can be attached to the node"}
}

// attachReason words a lack of attachments on machines that have enough of all else.
// ok is false where something else is lacking too.
func (e *Explainer) attachReason(lacking []int) (r scheduling.Reason, ok bool) {
	if len(lacking) == 0 || slices.ContainsFunc(lacking, func(d int) bool { return podspec.AttachDriver(e.Table.Names[d]) == "" }) {
		return scheduling.Reason{}, false
	}
	return scheduling.Reason{Code: scheduling.ReasonAttachLimit, Detail: "too few further volumes of " + podspec.AttachDriver(e.Table.Names[lacking[0]]) + " can be attached"}, true
}

// withoutAttachments drops attachments from resources that are lacking, unless nothing
// else is.
func (e *Explainer) withoutAttachments(lacking []int) []int {
	return slices.DeleteFunc(slices.Clone(lacking), func(d int) bool { return podspec.AttachDriver(e.Table.Names[d]) != "" })
}

// attachFix says how many volumes would do.
func attachFix(driver string, most, want int64) scheduling.Change {
	return scheduling.Change{
		Kind: scheduling.ChangeVolume, Key: driver, From: strconv.FormatInt(want, 10), To: strconv.FormatInt(most, 10),
		Text: fmt.Sprintf("fits with at most %d volumes of %s (has %d)", most, driver, want),
	}
}

// screenVolumes takes the offers out on whose machines the volumes cannot be used.
func (e *Explainer) screenVolumes(v *offers.Template, group *podspec.Constraint, admitted model.Bits) model.Bits {
	within := v.Within.Clone()
	e.Offers.NarrowToVolumes(within, v, group)
	gone := admitted.Clone()
	gone.AndNot(within)
	return gone
}

// choosable reports whether some offer of a row may be bought for a request as far as
// the choice among spot offers is concerned.
func (s *scene) choosable(ti int, row model.Bits, request []int64) bool {
	if !offers.On(s.Solver.Flexibility) {
		return true
	}
	c, ok := offers.NewChoices(s.Solver.Flexibility), false
	row.Each(func(o int) {
		x := &s.Offers.Offers[o]
		if room, fits := s.room(ti, o); !ok && fits && x.Launchable && model.Fits(room, request) {
			if !x.Spot() {
				ok = true
				return
			}
			ok = c.Add(x) && c.Enough()
		}
	})
	return ok
}

// spotsOf are the spot offers of a row.
func (s *scene) spotsOf(row model.Bits) model.Bits {
	out := row.Clone()
	row.Each(func(o int) {
		if !s.Offers.Offers[o].Spot() {
			out.Clear(o)
		}
	})
	return out
}

// flexibilityFix says whether asking for less choice among spot machines would help.
func (e *Explainer) flexibilityFix(class *podspec.PodClass, id int, screens []screened) scheduling.Change {
	if !offers.On(e.Solver.Flexibility) {
		return scheduling.Change{}
	}
	for ti := range screens {
		spots := e.spotsOf(screens[ti].admitted)
		if e.choosable(ti, spots, class.Requests) {
			continue
		}
		found := false
		spots.Each(func(o int) { found = found || e.usable(class, id, ti, o) })
		if found {
			return scheduling.Change{
				Kind: scheduling.ChangeFlexibility, Object: "Policy", From: e.Solver.Flexibility.String(),
				Text: fmt.Sprintf("ask for less choice among spot machines than %s", e.Solver.Flexibility),
			}
		}
	}
	return scheduling.Change{}
}
