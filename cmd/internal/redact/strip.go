package redact

import "strings"

// Object is one of a cluster, or a part of one.
type Object = map[string]any

// Strip deletes the fields of an object that plans do not read, in place.
func Strip(o Object) {
	s := stripper{fields(), annotations()}
	s.strip(o)
}

type stripper struct{ fields, annotations map[string]meaning }

func (s stripper) strip(value any) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			s.strip(item)
		}
	case Object:
		for name, part := range v {
			inner, nested := part.(Object)
			switch what := s.fields[name]; {
			case name == "message" && notice(v):
			case what == unread || name == "args" && !nested || name == "hostIP" && v["containerPort"] == nil:
				delete(v, name)
			case name == "annotations" && nested:
				for key := range inner {
					if s.annotations[key] == unread {
						delete(inner, key)
					}
				}
			case nested && (what == amounts || what == labels && !isSelector(inner)):
			default:
				s.strip(part)
			}
		}
	}
}

// notice reports whether a condition is notice of a cloud, whose message says when a machine goes.
func notice(condition Object) bool {
	kind, _ := condition["type"].(string)
	return kind == "VMEvent" || strings.HasSuffix(kind, "Scheduled") && kind != "PodScheduled"
}

// isSelector reports whether a map is a selector of labels, and not labels.
func isSelector(m Object) bool {
	_, some := m["matchLabels"].(Object)
	_, more := m["matchExpressions"].([]any)
	return some || more
}
