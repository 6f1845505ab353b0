package instancetypes

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
)

// NodeOverlay changes types of a catalog: negotiated prices, licences, devices of a plug-in. The
// fields are those of karpenter.sh/v1alpha1 NodeOverlays, so that manifests decode unchanged.
type NodeOverlay struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec NodeOverlaySpec `json:"spec"`
}

// NodeOverlaySpec is the change, and the requirements of the offerings that it applies to.
type NodeOverlaySpec struct {
	// Requirements select by the labels of the types, their offerings and, with
	// [Catalog.WithPoolOverlays], the NodePool. All must hold; none selects
	// everything.
	Requirements []requirements.Selector `json:"requirements,omitempty"`
	// Price replaces the price, in USD per hour. It excludes PriceAdjustment.
	Price *string `json:"price,omitempty"`
	// PriceAdjustment changes the price by an amount in USD per hour ("+0.05",
	// "-0.1") or a percentage ("+10%", "-15%"). The result is at least 0.
	PriceAdjustment *string `json:"priceAdjustment,omitempty"`
	// Capacity adds resources to the nodes, or replaces their amounts. cpu,
	// memory, ephemeral-storage and pods cannot be changed.
	Capacity corev1.ResourceList `json:"capacity,omitempty"`
	// Weight, 1 to 10000, decides between overlays that change the same price or
	// the same resource: the highest applies, alone. Absent is the lowest.
	Weight *int32 `json:"weight,omitempty"`
}

// OverlayError says why an overlay was not applied.
type OverlayError struct {
	// Overlay is the name of the overlay that was left out.
	Overlay string
	// Conflict is the name of the overlay of the same weight that changes the same
	// thing; empty if the overlay is invalid by itself.
	Conflict string
	// InstanceType is a type that both would change; there may be more.
	InstanceType string
	// Field is the faulty field, or the one that both change: "spec.price" or "spec.capacity.NAME".
	Field string
	// Err is the reason in words.
	Err error
}

// Error names the overlay, the field and the reason.
func (e *OverlayError) Error() string {
	return fmt.Sprintf("node overlay %s: %s: %v", e.Overlay, e.Field, e.Err)
}

// Unwrap returns the reason.
func (e *OverlayError) Unwrap() error { return e.Err }

// Validate reports everything that is wrong with the overlay by itself, as
// [OverlayError] values joined into one error.
func (n *NodeOverlay) Validate() error {
	_, err := n.compile()
	return err
}

// overlay is a valid NodeOverlay in the form in which it is applied.
type overlay struct {
	name     string
	weight   int32
	selects  matcher
	price    *offerings.Adjustment
	capacity corev1.ResourceList
}

// compile checks the overlay and prepares it.
func (n *NodeOverlay) compile() (*overlay, error) {
	var errs []error
	report := func(field, format string, args ...any) {
		errs = append(errs, &OverlayError{Overlay: n.Name, Field: field, Err: fmt.Errorf(format, args...)})
	}
	o := &overlay{name: n.Name, capacity: n.Spec.Capacity}
	if n.Name == "" {
		report("metadata.name", "must not be empty")
	}
	if w := n.Spec.Weight; w != nil {
		o.weight = *w
		if *w < 1 || *w > 10_000 {
			report("spec.weight", "%d is not from 1 to 10000", *w)
		}
	}
	o.selects = n.matcher(report)
	o.price = n.price(report)
	for _, name := range slices.Sorted(maps.Keys(n.Spec.Capacity)) {
		field, q := "spec.capacity."+string(name), n.Spec.Capacity[name]
		switch name {
		case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, corev1.ResourcePods:
			report(field, "this resource cannot be changed by an overlay")
			continue
		}
		checkResources(corev1.ResourceList{name: q}, func(_, value, problem string) {
			report(field, "%q %s", value, problem)
		}, "")
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return o, nil
}

func (n *NodeOverlay) matcher(report func(field, format string, args ...any)) matcher {
	const most = 100
	if len(n.Spec.Requirements) > most {
		report("spec.requirements", "%d are more than %d", len(n.Spec.Requirements), most)
	}
	set := requirements.Set{}
	for i, selector := range n.Spec.Requirements {
		field := fmt.Sprintf("spec.requirements[%d]", i)
		r, err := selector.Requirement()
		switch {
		case err != nil:
			report(field, "%w", err)
			continue
		case selector.Operator == requirements.NotIn && len(selector.Values) == 0:
			report(field, "operator NotIn of %q needs at least one value", selector.Key)
		case selector.MinValues != nil:
			report(field, "minValues of %q has no meaning for an overlay", selector.Key)
		}
		set = set.With(r)
	}
	return newMatcher(set)
}

// price reads the change of price; nil if there is none.
func (n *NodeOverlay) price(report func(field, format string, args ...any)) *offerings.Adjustment {
	field, text := "spec.price", n.Spec.Price
	switch {
	case n.Spec.Price != nil && n.Spec.PriceAdjustment != nil:
		report("spec.priceAdjustment", "%q excludes the price %q beside it", *n.Spec.PriceAdjustment, *n.Spec.Price)
		return nil
	case n.Spec.PriceAdjustment != nil:
		field, text = "spec.priceAdjustment", n.Spec.PriceAdjustment
	case n.Spec.Price == nil:
		return nil
	}
	if field == "spec.price" {
		if _, err := offerings.ParsePrice(*text); err != nil {
			report(field, "%w", err)
			return nil
		}
	} else if (*text + " ")[0] != '+' && (*text + " ")[0] != '-' {
		report(field, "%q needs a sign: + or -", *text)
		return nil
	}
	a, err := offerings.ParseAdjustment(*text)
	if err != nil {
		report(field, "%w", err)
		return nil
	}
	return &a
}
