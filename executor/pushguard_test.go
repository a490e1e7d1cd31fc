package executor

import (
	"errors"
	"testing"
)

func TestOnlyPublicAddresses(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"8.8.8.8:443": true, "[2606:4700::1111]:443": true, "198.17.255.255:80": true, "[::ffff:8.8.8.8]:80": true,
		"127.0.0.1:80": false, "10.1.2.3:80": false, "172.16.0.1:80": false, "192.168.1.1:80": false, "169.254.169.254:80": false,
		"100.64.0.1:80": false, "0.0.0.0:80": false, "0.1.2.3:80": false, "224.0.0.1:80": false, "255.255.255.255:80": false, "198.19.0.1:80": false,
		"[::1]:80": false, "[::]:80": false, "[fe80::1%eth0]:80": false, "[fc00::1]:80": false, "[ff02::1]:80": false, "[fe80::1]:80": false,
		"[::ffff:127.0.0.1]:80": false, "[::ffff:10.0.0.1]:80": false, "[64:ff9b::a00:1]:80": false, "[2002:a00:1::]:80": false, "[::a00:1]:80": false,
		"[fec0::1]:80": false, "[::ffff:0:7f00:1]:80": false, "[2001:0:4136:e378:8000:63bf:80ff:fffe]:80": false, "[3fff::1]:80": false, "[5f00::1]:80": false, "192.88.99.1:80": false,
		"[2001:4860:4860::8888]:53": true,
		"localhost:80":              false, "": false,
	} {
		if err := onlyPublic(t.Context(), "tcp", address, nil); (err == nil) != want || err != nil && !errors.Is(err, errNotPublic) {
			t.Errorf("%s: got %v", address, err)
		}
	}
}
