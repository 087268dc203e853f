// SPDX-License-Identifier: Apache-2.0
// What travels between coordinator, committer and savepoint writer, and what becomes of it when
// nobody takes it any more.
#include "runtime/coordinator.h"

#include <stdlib.h>

void weir_completed_destroy(struct weir_completed *completed)
{
    if (completed == NULL) {
        return;
    }
    for (uint32_t i = 0; i < completed->snapshot_count; i++) {
        weir_snapshot_destroy(completed->snapshots[i]);
    }
    free(completed->snapshots);
    free(completed);
}

void weir_coordinator_drop_mail(struct weir_mail *mail)
{
    switch (mail->kind) {
    case WEIR_MAIL_ACKNOWLEDGED:
        weir_snapshot_destroy(mail->payload);
        break;
    case WEIR_MAIL_COMPLETE:
        weir_completed_destroy(mail->payload);
        break;
    case WEIR_MAIL_FAILED:
    case WEIR_MAIL_COMMIT_FAILED:
        free(mail->payload);
        break;
    case WEIR_MAIL_REQUEST:
    case WEIR_MAIL_SAVEPOINT:
        weir_request_fail(mail->payload, WEIR_LIFE_IS_OVER);
        break;
    case WEIR_MAIL_CANCEL:
    case WEIR_MAIL_DRAIN:
    case WEIR_MAIL_SAVEPOINT_OVER:
    case WEIR_MAIL_TRIGGER:
    case WEIR_MAIL_COMMITTED:
    case WEIR_MAIL_STOP:
    case WEIR_MAIL_FINISHED:
    case WEIR_MAIL_HANDLE_READY:
    case WEIR_MAIL_MANIFEST_STORED:
    case WEIR_MAIL_REQUEST_CHECKPOINT:
    case WEIR_MAIL_REQUEST_STOP:
    case WEIR_MAIL_REQUEST_REBUILD:
        break;
    }
}
