package scheduling

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// requestable are the resources that pods may request by name. Attachments are not
// among them: no part of a plan speaks of them.
func (c *compiler) requestable() []corev1.ResourceName {
	return slices.DeleteFunc(slices.Clone(c.table.names), func(name corev1.ResourceName) bool { return attachDriver(name) != "" })
}

// unattached is a request without the attachments of volumes. The bound passes over
// their limits, which keeps it valid.
func (c *compiler) unattached(request []int64) []int64 {
	if c.classes.volumes == nil {
		return request
	}
	out := slices.Clone(request)
	for d, name := range c.table.names {
		if attachDriver(name) != "" {
			out[d] = 0
		}
	}
	return out
}

// appendGroup appends what identifies the constraints of a group, the claims aside
// that its pods share with others.
func (c *compiler) appendGroup(b []byte, group int) []byte {
	signature := c.classes.signatures[group]
	return appendText(b, signature[:len(signature)-c.classes.groups[group].sharing])
}
