package disruption

import "github.com/plimsoll-go/plimsoll/scheduling"

// hold lets the sessions wait for changes until release: a change takes them as long as the
// cluster is large, and while steps are done that are known to be possible nobody asks them. No
// pod may move twice until then, and no node come and go.
func (s *state) hold() { s.held = &scheduling.Delta{} }

// release tells the sessions what has changed since hold.
func (s *state) release() error {
	d := s.held
	s.held = nil
	return s.apply(*d)
}

// apply makes a change in both sessions.
func (s *state) apply(d scheduling.Delta) error {
	if held := s.held; held != nil {
		held.Nodes, held.Pods, held.Moved = append(held.Nodes, d.Nodes...), append(held.Pods, d.Pods...), append(held.Moved, d.Moved...)
		held.Removed.Nodes, held.Removed.Pods = append(held.Removed.Nodes, d.Removed.Nodes...), append(held.Removed.Pods, d.Removed.Pods...)
		if d.Catalog != nil || d.PoolCatalogs != nil {
			held.Catalog, held.PoolCatalogs = d.Catalog, d.PoolCatalogs
		}
		return nil
	}
	if s.free == nil {
		return s.market.Apply(d)
	}
	if err := s.market.Apply(d); err != nil {
		return err
	}
	d.Catalog, d.PoolCatalogs = nil, nil // nothing is for sale there
	return s.free.Apply(d)
}
