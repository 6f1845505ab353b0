package knapsack

// rowTables are exact values of single rows. A dual values the room that is left of a row as if parts of pods could fill
// it. With round sizes they cannot: a machine of 15.5 cores holds 15 cores of pods of 1, 2 and 4, and a bound by the dual
// counts half a core too much. A table has the most value that whole pods add in one row, where they pay the duals of
// all other rows. It is a Lagrangian relaxation of the knapsack that keeps one of its constraints whole.
type rowTables struct {
	// cells has a table for each row and layer: by the room that is left of the row, the most value that the classes
	// from the layer on add.
	cells []int64
	// begins is, by layer and row, the cell of no room; −1 for a row without tables.
	begins []int
}

// cellsPerState is the number of cells that take as much work as a state. mostCells bounds the cells of a table, so that
// those of all layers take little memory.
const cellsPerState, mostCells = 16, 1 << 13

// fill computes the tables of the rows with at most so much room that a table takes no more work than a full layer of the
// search. It returns the work in states.
func (t *rowTables) fill(s *Search) (work int64) {
	layers := len(s.order)
	t.cells, t.begins = t.cells[:0], t.begins[:0]
	for range (layers + 1) * s.dims {
		t.begins = append(t.begins, -1)
	}
	for d, room := range s.Room {
		if room >= min(int64(s.Width)*cellsPerState, mostCells) {
			continue
		}
		begin, n := len(t.cells), int(room)+1
		t.cells = append(t.cells, make([]int64, (layers+1)*n)...)
		t.begins[layers*s.dims+d] = begin
		for layer := layers - 1; layer >= 0; layer-- {
			table := t.cells[begin+n : begin+2*n]
			copy(table, t.cells[begin:begin+n])
			begin += n
			t.begins[layer*s.dims+d] = begin
			work += s.addToTable(table, s.order[layer], d)
		}
	}
	return work / cellsPerState
}

// addToTable lets the table of a row hold pods of one more class, and returns the number of cells that it visited.
func (s *Search) addToTable(table []int64, class, row int) (visited int64) {
	size, value := s.Size(class), s.PodValues[class]
	for d, n := range size {
		if d != row {
			value -= s.Values[d] * n
		}
	}
	if value <= 0 {
		return 0
	}
	if size[row] == 0 {
		for room := range table {
			table[room] += value * s.Most[class]
		}
		return int64(len(table))
	}
	// Groups of 1, 2, 4 and so on pods add up to every number of pods.
	for rest, n := s.Most[class], int64(1); rest > 0; rest, n = rest-n, 2*n {
		n = min(n, rest)
		need := int(n * size[row])
		for room := len(table) - 1; room >= need; room-- {
			table[room] = max(table[room], table[room-need]+n*value)
		}
		visited += int64(len(table))
	}
	return visited
}

// lower returns the least of a bound and the bounds by the tables of a layer. value is that of the pods so far, and valued
// that of the room left by the duals.
func (t *rowTables) lower(bound, value, valued int64, begins []int, left, duals []int64) int64 {
	for d, begin := range begins {
		if begin >= 0 {
			bound = min(bound, value+valued-duals[d]*left[d]+t.cells[begin+int(left[d])])
		}
	}
	return bound
}
