package topology

// zones makes sites in the first n domains of every rule, at which a pod costs 10.
func zones(n int, links []Link) []Site {
	sites := make([]Site, n)
	for z := range sites {
		sites[z] = Site{Cost: 10, Limit: -1}
		for range links {
			sites[z].Domains = append(sites[z].Domains, int32(z))
			sites[z].Counted = append(sites[z].Counted, true)
		}
	}
	return sites
}

// class makes a class of n pods in that many zones.
func class(n int64, inZones int, links ...Link) Class {
	return Class{Count: n, Request: []int64{1}, Links: links, Sites: zones(inZones, links)}
}

// at leaves some of a class's sites only.
func (c Class) at(sites ...int) Class {
	kept := make([]Site, 0, len(sites))
	for _, s := range sites {
		kept = append(kept, c.Sites[s])
	}
	c.Sites = kept
	return c
}

// costs sets what a pod costs, site by site.
func (c Class) costs(costs ...int64) Class {
	c.Sites = append([]Site(nil), c.Sites...)
	for s, cost := range costs {
		c.Sites[s].Cost = cost
	}
	return c
}

// limits sets the limits of the sites.
func (c Class) limits(limits ...int64) Class {
	c.Sites = append([]Site(nil), c.Sites...)
	for s, limit := range limits {
		c.Sites[s].Limit = limit
	}
	return c
}

// penalties sets the penalties of the sites.
func (c Class) penalties(penalties ...int64) Class {
	c.Sites = append([]Site(nil), c.Sites...)
	for s, penalty := range penalties {
		c.Sites[s].Penalty = penalty
	}
	return c
}

// bins sets the running machines of the sites.
func (c Class) bins(bins ...[]int32) Class {
	c.Sites = append([]Site(nil), c.Sites...)
	for s, list := range bins {
		c.Sites[s].Bins = list
	}
	return c
}

// priority sets the priority.
func (c Class) priority(p int32) Class {
	c.Priority = p
	return c
}

// Links to a rule.
func self(rule int32) Link  { return Link{Rule: rule, Holds: true, Counts: 1} }
func holds(rule int32) Link { return Link{Rule: rule, Holds: true} }
func seen(rule int32) Link  { return Link{Rule: rule, Counts: 1} }

// spread makes a spread rule; its domains do not exist but for what the classes reach.
func spread(skew int64, domains int) Rule {
	return Rule{Kind: Spread, Max: skew, Domains: make([]Domain, domains)}
}

// running makes domains of running nodes, with the numbers of counted pods there.
func (r Rule) running(counts ...int64) Rule {
	r.Domains = append([]Domain(nil), r.Domains...)
	for d, n := range counts {
		r.Domains[d].Count = n
		r.Domains[d].Eligible = true
		r.Total += n
	}
	return r
}

// holders sets the numbers of running pods that hold the rule.
func (r Rule) holders(counts ...int64) Rule {
	r.Domains = append([]Domain(nil), r.Domains...)
	for d, n := range counts {
		r.Domains[d].Holders = n
	}
	return r
}

// preference makes a rule a preference.
func (r Rule) preference(weight int64) Rule {
	r.Weight = weight
	return r
}

// least sets minDomains.
func (r Rule) least(n int64) Rule {
	r.MinDomains = n
	return r
}

func affinity(domains int) Rule {
	return Rule{Kind: Affinity, Domains: make([]Domain, domains)}
}

func anti(domains int) Rule {
	return Rule{Kind: Anti, Domains: make([]Domain, domains)}
}

func problem(rules []Rule, classes ...Class) *Problem {
	return &Problem{Dims: 1, Rules: rules, Classes: classes}
}
