package executor

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"syscall"
)

// errNotPublic is why the default sender does not connect (A2A v1.0 section
// 13.2): the URL is a client's, who could reach by it what only this machine
// can.
var errNotPublic = errors.New("the receiver is in a blocked address range: it is not a public address")

// onlyPublic is for net.Dialer: it sees each address that is to be dialled,
// after names are resolved.
func onlyPublic(_ context.Context, _, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotPublic, err)
	}
	if !public(at.Addr()) {
		return fmt.Errorf("%w: %v", errNotPublic, at.Addr())
	}
	return nil
}

func public(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsGlobalUnicast() && !a.IsPrivate() && // which leaves out loopback, link-local, multicast and none
		!slices.ContainsFunc(reserved, func(p netip.Prefix) bool { return p.Contains(a.WithZone("")) })
}

// reserved are ranges of special use (RFC 6890) that netip does not tell: of
// this network, of carriers, for protocols and tests, of a site, and those that
// hold an address of IPv4, whatever that is.
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("100::/64"),
	netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("::/96"),
	netip.MustParsePrefix("::ffff:0:0:0/96"), netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("fec0::/10"),
	netip.MustParsePrefix("3fff::/20"), netip.MustParsePrefix("5f00::/16"), netip.MustParsePrefix("192.88.99.0/24"),
}
