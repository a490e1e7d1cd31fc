.PHONY: check test tour lint fmt bench

check: ## all that CI runs
	bash .ci/run

test: ## the core's tests
	go test ./...

tour: ## start the showcase agent, talk to it, check every answer
	go run ./examples/tour

lint:
	golangci-lint run ./...

fmt:
	golangci-lint fmt ./...

bench: ## each with its baseline in the same run
	go test -run '^$$' -bench . -benchmem ./...
