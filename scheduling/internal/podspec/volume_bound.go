package podspec

// AppendWords appends where the volume can be used, as its objects word it.
func (c *Claim) AppendWords(b []byte) []byte {
	if v := c.Object; v != nil {
		if a := v.Spec.NodeAffinity; a != nil && a.Required != nil {
			for i := range a.Required.NodeSelectorTerms {
				t := &a.Required.NodeSelectorTerms[i]
				b = appendExpressions(append(b, 't'), t.MatchExpressions)
				b = appendExpressions(append(b, 'f'), t.MatchFields)
			}
		}
		for _, key := range zoneKeys() {
			b = AppendText(append(b, 'l'), v.Labels[key])
		}
	} else if c.Class != nil {
		for i := range c.Class.AllowedTopologies {
			b = append(b, 't')
			for _, e := range c.Class.AllowedTopologies[i].MatchLabelExpressions {
				b = AppendText(append(b, 'e'), e.Key)
				for _, v := range e.Values {
					b = AppendText(append(b, 'v'), v)
				}
			}
		}
	}
	return b
}
