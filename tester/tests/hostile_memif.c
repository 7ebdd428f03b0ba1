/* SPDX-License-Identifier: BSD-3-Clause */
#include "hostile_memif.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Types of messages, and the lengths of a hello's fields, by memif 2.0. */
enum { ACK = 1, HELLO = 2, CONNECT = 6, CONNECTED = 7 };

void hostile_init(struct hostile *h, const char *path)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	const uint16_t hello = HELLO, version = 2 << 8, most = 255;

	memset(h, 0, sizeof(*h));
	h->path = path;
	h->memory = -1;
	h->answer_bytes = HOSTILE_MESSAGE_BYTES;
	snprintf(h->device, sizeof(h->device), "own_memif0,socket=%s,rsize=8", path);
	memcpy(h->hello, &hello, sizeof(hello));
	memcpy(h->hello + 34, &version, sizeof(version));
	memcpy(h->hello + 36, &version, sizeof(version));
	memcpy(h->hello + 38, &most, sizeof(most));
	memcpy(h->hello + 40, &most, sizeof(most));
	memcpy(h->hello + 42, &most, sizeof(most));
	h->hello[HOSTILE_HELLO_LOG2] = 14;
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	unlink(path);
	h->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (h->listener < 0 || bind(h->listener, (struct sockaddr *)&at, sizeof(at)) < 0 ||
	    listen(h->listener, 1) < 0)
		abort();
}

static void keep_memory(struct hostile *h, const struct msghdr *header)
{
	const struct cmsghdr *c = CMSG_FIRSTHDR(header);
	int fd;

	if (c == NULL)
		return;
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	if (h->memory < 0)
		h->memory = fd;
	else
		close(fd);
}

static void *serve(void *argument)
{
	struct hostile *h = argument;
	const int fd = accept(h->listener, NULL, NULL);
	uint8_t heard[HOSTILE_MESSAGE_BYTES], answer[2 * HOSTILE_MESSAGE_BYTES] = {0};
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr aligned;
	} control;
	struct iovec part = {heard, sizeof(heard)};
	uint16_t type = 0;

	if (fd < 0 || send(fd, h->hello, sizeof(h->hello), MSG_NOSIGNAL) < 0)
		return NULL;
	while (type != CONNECT) {
		struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1,
					.msg_control = control.bytes,
					.msg_controllen = sizeof(control.bytes)};
		if (recvmsg(fd, &header, 0) <= 0)
			break;
		keep_memory(h, &header);
		memcpy(&type, heard, sizeof(type));
		const uint16_t say = type == CONNECT ? CONNECTED : ACK;
		memcpy(answer, &say, sizeof(say));
		if (send(fd, answer, h->answer_bytes, MSG_NOSIGNAL) < 0)
			break;
	}
	/* It stays connected, as a DUT does, until the program ends. */
	return NULL;
}

bool hostile_meets(struct hostile *h, struct direct *d)
{
	pthread_t server;

	if (pthread_create(&server, NULL, serve, h) != 0)
		abort();
	const bool is_linked = direct_link(d);
	/* It may still wait for what does not come. */
	if (!is_linked)
		shutdown(h->listener, SHUT_RDWR);
	pthread_join(server, NULL);
	return is_linked;
}

void hostile_end(struct hostile *h)
{
	close(h->listener);
	unlink(h->path);
	if (h->memory >= 0)
		close(h->memory);
}
