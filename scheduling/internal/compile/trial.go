package compile

// PodCount is the number of pods that are planned.
func (c *Compiler) PodCount() (n int64) {
	for _, class := range c.Planned {
		n += int64(len(class.Pods))
	}
	return n
}
