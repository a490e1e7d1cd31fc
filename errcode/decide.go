package errcode

// decision is what the default table says about an error.
type decision struct {
	class   Class
	row     *row   // nil when nothing matched
	decider error  // the error that matched row
	app     *Error // the application error that decided, its own or one that was carried
	where   error  // the outermost error around the decider that names a flow node
	named   string // the reason from the first named type on the way
}

// bypass reports whether the author's own error decided, which user rules may not override.
func (d *decision) bypass() bool { return d.row != nil && d.row.bypass }

// noScope is the level of a subtree that is not being visited.
const noScope = -1

// search is a walk that looks for the deciding error. carrier, connection and node are the levels
// of the errors of those kinds that enclose the error in hand.
type search struct {
	decision
	walk
	best       int    // the first user rule that matched by type or identity, noRule if none did
	bestReason string // the reason from the type it matched
	carrier    int
	connection int
	node       int
	passedNode error // the first error naming a node whose subtree did not decide
}

// run walks the tree of a non-nil error and applies the default rows, and the rules of types that
// go by type or identity. It is the one place where errors get their class.
func (s *search) run(types *typeCache, root error) *decision {
	s.types, s.pos = types, root
	s.carrier, s.connection, s.node, s.best = noScope, noScope, noScope, noRule
	for s.step() {
	}
	if s.row == nil {
		s.where = s.passedNode
	}
	s.settle()
	s.finish()
	return &s.decision
}

// finish looks at what the decision left unvisited: rules see the whole tree.
func (s *search) finish() {
	if len(s.types.rules) == 0 || s.bypass() {
		return
	}
	for s.best > 0 {
		err, ok := s.next()
		if !ok {
			return
		}
		s.matchRules(err)
	}
}

// step visits one error; it reports false when the decision is made.
func (s *search) step() bool {
	err, ok := s.next()
	if ok && s.info.rules != nil {
		s.matchRules(err)
	}
	if s.carrier != noScope && (!ok || s.from <= s.carrier) {
		return false // nothing below the carrier says more
	}
	if !ok {
		s.leaveNode()
		return false
	}
	if s.from <= s.connection {
		s.connection = noScope
	}
	if s.node != noScope && s.from <= s.node {
		s.leaveNode()
	}
	return !s.visit(err)
}

func (s *search) leaveNode() {
	if s.passedNode == nil {
		s.passedNode = s.where
	}
	s.node, s.where = noScope, nil
}

// visit looks at one error; it reports true when that error decides.
func (s *search) visit(err error) bool {
	info := s.info
	if s.named == "" {
		s.named = info.reason
	}
	if info.plain() || info.isNil(err) {
		return false
	}
	if info.node && s.node == noScope {
		s.node, s.where = s.level(), err
	}
	if info.sentinel {
		if r := sentinels[err]; r != nil && s.try(boundRow{row: r, match: r.match}, err) {
			return true
		}
	}
	for i := range info.rows {
		if s.try(info.rows[i], err) {
			return true
		}
	}
	return false
}

// try applies one row; it reports true when the row decides.
func (s *search) try(r boundRow, err error) bool {
	if r.connection && s.connection == noScope {
		s.connection = s.level()
	}
	if r.carrier && s.carrier != noScope {
		return false // an outer carrier comes first
	}
	if !s.apply(r, err) {
		return false
	}
	s.row, s.decider = r.row, err
	if s.class.Reason == "" && s.app == nil {
		s.class.Reason = s.info.reason
	}
	if r.carrier {
		s.carrier = s.level()
	}
	return !r.carrier
}

// apply takes the class of the row if it matches.
func (s *search) apply(r boundRow, err error) bool {
	if r.app == nil {
		return r.decide(err, s.connection != noScope, &s.class)
	}
	app := r.app(err)
	if app == nil {
		return false
	}
	s.app, s.class = app, app.class()
	return true
}

// settle completes the decision: the class when no row matched, and a reason in any case.
func (d *decision) settle() {
	if d.row == nil {
		d.class = Class{Code: Internal, Reason: d.named}
	}
	if d.class.Reason == "" && d.app == nil {
		d.class.Reason = reasonInternal
	}
}
