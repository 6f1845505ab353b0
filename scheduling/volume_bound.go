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

// spokesmen are the first pods of a class whose volumes say in different words where
// they can be used. Whoever checks a bound need not know that they mean the same.
func (c *compiler) spokesmen(class *podClass) []*corev1.Pod {
	x := c.classes.volumes
	if x == nil || len(c.classes.groups[class.group].volumes) == 0 {
		return class.pods[:1]
	}
	var out []*corev1.Pod
	said := map[string]bool{}
	var b []byte
	for _, pod := range class.pods {
		b = b[:0]
		for _, claim := range x.claimsOf(pod) {
			b = claim.appendWords(append(b, '|'))
		}
		if !said[string(b)] {
			said[string(b)] = true
			out = append(out, pod)
		}
	}
	return out
}

// appendWords appends where the volume can be used, as its objects word it.
func (c *claim) appendWords(b []byte) []byte {
	if v := c.object; v != nil {
		if a := v.Spec.NodeAffinity; a != nil && a.Required != nil {
			for i := range a.Required.NodeSelectorTerms {
				t := &a.Required.NodeSelectorTerms[i]
				b = appendExpressions(append(b, 't'), t.MatchExpressions)
				b = appendExpressions(append(b, 'f'), t.MatchFields)
			}
		}
		for _, key := range zoneKeys() {
			b = appendText(append(b, 'l'), v.Labels[key])
		}
	} else if c.class != nil {
		for i := range c.class.AllowedTopologies {
			b = append(b, 't')
			for _, e := range c.class.AllowedTopologies[i].MatchLabelExpressions {
				b = appendText(append(b, 'e'), e.Key)
				for _, v := range e.Values {
					b = appendText(append(b, 'v'), v)
				}
			}
		}
	}
	return b
}
