package manifest

import (
	"errors"

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
	for _, e := range flatten(err) {
		f := &Fault{At: o.at, Object: refOf(o), Message: e.Error()}
		var overlay *instancetypes.OverlayError
		if errors.As(e, &overlay) {
			f.Field, f.Message = overlay.Field, overlay.Err.Error()
		}
		c.fault(f)
	}
}

// flatten returns the single errors that are joined in err.
func flatten(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var out []error
	for _, e := range joined.Unwrap() {
		out = append(out, flatten(e)...)
	}
	return out
}
