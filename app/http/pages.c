// SPDX-License-Identifier: Apache-2.0
// See pages.h.
#include "app/http/pages.h"

#include "app/board.h"
#include "app/http/dashboard.h"
#include "app/quarantine.h"
#include "runtime/base/metrics.h"

#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

void weir_http_get_livez(const struct weir_http_site *site, const struct weir_http_request *request,
                         struct weir_http_response *response)
{
    (void)request;
    struct weir_board *board = site->board;
    pthread_mutex_lock(&board->lock);
    enum weir_job_state state = board->state;
    pthread_mutex_unlock(&board->lock);
    response->status = WEIR_HTTP_OK;
    response->content_type = WEIR_HTTP_TEXT;
    weir_buffer_printf(&response->body, "alive: %s\n", weir_job_state_name(state));
}

void weir_http_get_readyz(const struct weir_http_site *site,
                          const struct weir_http_request *request,
                          struct weir_http_response *response)
{
    (void)request;
    struct weir_board *board = site->board;
    pthread_mutex_lock(&board->lock);
    bool is_ready = weir_board_is_ready(board, &response->body);
    pthread_mutex_unlock(&board->lock);
    if (is_ready) {
        weir_buffer_printf(&response->body, "ready\n");
    }
    weir_quarantine_describe(board->config, &response->body);
    response->status = is_ready ? WEIR_HTTP_OK : WEIR_HTTP_UNAVAILABLE;
    response->content_type = WEIR_HTTP_TEXT;
}

void weir_http_get_metrics(const struct weir_http_site *site,
                           const struct weir_http_request *request,
                           struct weir_http_response *response)
{
    (void)request;
    weir_board_refresh(site->board);
    response->status = WEIR_HTTP_OK;
    response->content_type = METRICS_TYPE;
    weir_metrics_render(&response->body);
}

void weir_http_get_dashboard(const struct weir_http_site *site,
                             const struct weir_http_request *request,
                             struct weir_http_response *response)
{
    (void)site;
    (void)request;
    response->status = WEIR_HTTP_OK;
    response->content_type = "text/html; charset=utf-8";
    weir_buffer_append(&response->body, weir_http_dashboard, weir_http_dashboard_bytes);
}
