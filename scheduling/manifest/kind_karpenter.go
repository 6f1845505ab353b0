package manifest

import (
	"errors"
	"strings"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

func (c *collector) nodePool(o rawObject) {
	pool, warnings, err := scheduling.DecodeNodePool(o.json)
	if err != nil {
		c.foreign(o, err)
		return
	}
	c.warnings = append(c.warnings, warnings...)
	if c.admit(o, pool, false) {
		c.poolKubelet(o, pool)
		c.pools = append(c.pools, pool)
	}
}

func (c *collector) nodeClaim(o rawObject) {
	f, ok := take[NodeClaim](c, o, false)
	if !ok {
		return
	}
	in := c.inspect(o, f.obj)
	in.resources(f.obj.Spec.Resources.Requests, path{}.key("spec", "resources", "requests"))
	in.resources(f.obj.Status.Capacity, path{}.key("status", "capacity"))
	in.resources(f.obj.Status.Allocatable, path{}.key("status", "allocatable"))
	c.claims = append(c.claims, f)
}

func (c *collector) nodeOverlay(o rawObject) {
	f, ok := take[instancetypes.NodeOverlay](c, o, false)
	if !ok {
		return
	}
	if err := f.obj.Validate(); err != nil {
		c.foreign(o, err)
		return
	}
	c.overlays = append(c.overlays, *f.obj)
}

// foreign reports the faults that another package found in an object, one by one.
func (c *collector) foreign(o rawObject, err error) {
	var fields *scheduling.FieldErrors
	if errors.As(err, &fields) {
		for _, e := range fields.Errors {
			// The path begins with the object, which the fault names already.
			_, field, inside := strings.Cut(e.Path, "].")
			if !inside {
				field = ""
			}
			c.fault(&Fault{At: o.at, Object: refOf(o), Field: field, Value: quote(e.Value), Message: e.Message})
		}
		return
	}
	for _, e := range flatten(err) {
		f := &Fault{At: o.at, Object: refOf(o), Message: e.Error()}
		var overlay *instancetypes.OverlayError
		if errors.As(e, &overlay) {
			f.Field, f.Message = overlay.Field, overlay.Err.Error()
		}
		var field *instancetypes.Fault
		if errors.As(e, &field) {
			f.Field, f.Value, f.Message = field.Field, quote(field.Value), field.Problem
		}
		c.fault(f)
	}
}

// flatten returns the single errors that are joined in err.
func flatten(err error) []error {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return []error{err}
	}
	var out []error
	for _, e := range joined.Unwrap() {
		out = append(out, flatten(e)...)
	}
	return out
}
